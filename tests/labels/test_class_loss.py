"""Any loss as a module: its values by hand, transforms, dtypes, saved state, what is refused."""

import copy
import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from tests.labels.skewed_worker import COUNTS, Q, batch, soft_labels
from wola.labels import (
    LOSSES,
    ClassLoss,
    FedLC,
    LogitAdjusted,
    Loss,
    Shared,
    Terms,
    Uniform,
    WoLA,
    WoLABatch,
    WoLALoss,
)

HELD = [0, 1, 3]


def by_hand(name, logits, labels, shares, smoothing):
    """The terms (B,) of a batch in numpy: class by class, from the definitions."""
    x, counts = logits.double().numpy(), np.array(COUNTS, dtype=float)
    if name == "wola-batch":
        counts = shares.sum(0)
    p = counts / counts.sum()
    uniform = np.array([1, 1, 0, 1]) / 3
    smooth = (1 - smoothing) * shares + smoothing * uniform
    total = np.zeros(len(x))
    for c in HELD:
        z = x.copy()
        if name == "fedlc":
            z -= np.where(counts > 0, counts, 1e-8) ** -0.25
        elif name == "fedrs":
            z[:, counts == 0] *= 0.5
        elif name == "dmfl":
            z[:, c] -= counts[c] ** -0.25
        elif name == "logit-adjusted":
            z = z[:, HELD] + np.log(p[HELD])
        elif name == "wola-shift":
            q = np.array(Q)
            r = np.sqrt(p * q) / np.sqrt(p * q).sum()
            z = z[:, HELD] + np.log(r[HELD] / q[HELD])
        restricted = name in ("logit-adjusted", "wola-shift")
        own = z[:, HELD.index(c) if restricted else c]
        weight = Q[c] / p[c] if name.startswith("wola") else 1.0
        if name == "wola-shift":
            weight = r[c] / p[c]
        total += smooth[:, c] * weight * (np.log(np.exp(z).sum(1)) - own)
    return total


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["hard", "soft"])
@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_is_its_definition(name, kind, smoothing):
    logits, targets = batch()
    shares = soft_labels() if kind == "soft" else torch.nn.functional.one_hot(targets, 4).double()
    expected = by_hand(name, logits, targets, shares.numpy(), smoothing)
    given = shares if kind == "soft" else targets
    for reduction, wanted in (("none", expected), ("mean", expected.mean())):
        loss = ClassLoss(LOSSES[name](), COUNTS, Q, reduction=reduction, label_smoothing=smoothing)
        np.testing.assert_allclose(loss(logits, given).numpy(), wanted, rtol=1e-10)


@pytest.mark.parametrize(("level", "loss"), [("dataset", WoLA()), ("batch", WoLABatch())])
def test_the_wola_loss_is_one_of_them(level, loss):
    logits, targets = batch()
    expected = ClassLoss(loss, COUNTS, Q)(logits, targets)
    assert torch.equal(WoLALoss(COUNTS, Q, level=level)(logits, targets), expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("name", LOSSES)
def test_it_runs_under_vmap_and_grad_and_compiles_to_one_graph(name, smoothing):
    logits, targets = batch(6)
    loss = ClassLoss(LOSSES[name](), COUNTS, Q, label_smoothing=smoothing)

    def of_one(x, y):
        return loss(x.unsqueeze(0), y.unsqueeze(0))

    grads = torch.func.vmap(torch.func.grad(of_one))(logits, targets)
    for k in range(6):
        x = logits[k].clone().requires_grad_()
        of_one(x, targets[k]).backward()
        torch.testing.assert_close(grads[k], x.grad)
    torch.compiler.reset()
    compiled = torch.compile(loss, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(logits, targets), loss(logits, targets))


@pytest.mark.parametrize("name", LOSSES)
def test_a_cast_leaves_its_terms_as_they_are_and_a_move_takes_them_along(name):
    plain = ClassLoss(LOSSES[name](), COUNTS, Q)
    cast, moved = copy.deepcopy(plain).half(), copy.deepcopy(plain).to("meta", torch.float16)
    for key, buffer in plain.named_buffers():
        assert torch.equal(cast.get_buffer(key), buffer)
        assert moved.get_buffer(key).dtype == buffer.dtype
        assert moved.get_buffer(key).device.type == "meta"
    logits, targets = batch(dtype=torch.float16)
    assert cast(logits, targets).dtype == torch.float32
    torch.testing.assert_close(cast(logits, targets), plain(logits.float(), targets))


@pytest.mark.parametrize("name", LOSSES)
def test_a_saved_state_restores_the_terms(name, tmp_path):
    loss, other = (ClassLoss(LOSSES[name](), counts, Q) for counts in (COUNTS, [1, 2, 3, 4]))
    torch.save(loss.state_dict(), tmp_path / "loss.pt")
    other.load_state_dict(torch.load(tmp_path / "loss.pt", weights_only=True))
    logits, targets = batch()
    assert torch.equal(other(logits, targets), loss(logits, targets))


def test_a_worker_of_one_class_learns_nothing_from_adjusted_logits():
    loss = ClassLoss(LogitAdjusted(), [0, 0, 9, 0], Uniform())
    logits = torch.randn(5, 4, generator=torch.Generator().manual_seed(3)).requires_grad_()
    value = loss(logits, torch.full((5,), 2))
    value.backward()
    assert float(value.detach()) == 0
    assert torch.equal(logits.grad, torch.zeros(5, 4))


def test_a_loss_of_ones_own_per_batch_has_all_its_terms_used():
    @dataclass(frozen=True)
    class Own(Loss):
        per_batch = True

        def terms(self, counts, q):
            counts = counts.to(q.dtype)
            return Terms(torch.ones_like(q), counts, 2 * counts, 1 / (1 + counts))

    logits, targets = batch(5)
    counts = torch.bincount(targets, minlength=4).double()
    shifted = logits / (1 + counts) + counts - 2 * torch.diag(counts)[targets]
    expected = torch.nn.functional.cross_entropy(shifted, targets)
    torch.testing.assert_close(ClassLoss(Own(), COUNTS, Q)(logits, targets), expected)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"loss": "fedlc"}, TypeError, "loss = 'fedlc'; allowed: a Loss, such as"),
        ({"loss": FedLC}, TypeError, "loss = <class .*; allowed: a Loss, such as"),
        ({"counts": [0] * 4}, ValueError, "counts must have at least one positive"),
        ({"objective": Shared()}, TypeError, "evaluate one that needs reports first"),
        ({"reduction": "avg"}, ValueError, "reduction = 'avg'; .*allowed: mean, sum, none"),
        ({"label_smoothing": math.nan}, ValueError, "label_smoothing = nan; allowed"),
    ],
)
def test_bad_settings_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        ClassLoss(**({"loss": FedLC(), "counts": COUNTS, "objective": Q} | arguments))


def test_a_target_that_the_worker_does_not_hold_is_refused():
    with pytest.raises(ValueError, match="got class 2 with a count of 0"):
        ClassLoss(LogitAdjusted(), COUNTS, Q)(torch.zeros(1, 4), torch.tensor([2]))


def test_the_representation_names_the_loss():
    assert "LogitAdjusted(tau=2.0), classes=4" in repr(ClassLoss(LogitAdjusted(2.0), COUNTS, Q))
