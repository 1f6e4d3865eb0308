"""The WoLA loss against sums written from its definition."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from tests.labels.skewed_worker import COUNTS, Q, batch, cross_entropies, soft_labels
from wola.labels import Prior, Uniform, WoLALoss, wola_loss, wola_weights


def reference_terms(logits, targets, counts, q) -> list[float]:
    losses, total = cross_entropies(logits), sum(counts)
    return [q[y] / (counts[y] / total) * losses[k, y] for k, y in enumerate(targets.tolist())]


def test_the_mean_divides_by_the_batch_size():
    logits, targets = batch()
    terms = reference_terms(logits, targets, COUNTS, Q)
    assert float(WoLALoss(COUNTS, Q)(logits, targets)) == pytest.approx(sum(terms) / 12, rel=1e-12)
    weights = wola_weights(COUNTS, Q)
    by_sum_of_weights = float(F.cross_entropy(logits, targets, weight=weights))
    assert abs(by_sum_of_weights - sum(terms) / 12) > 1e-2


def test_sum_and_none_do_not_divide():
    logits, targets = batch()
    terms = reference_terms(logits, targets, COUNTS, Q)
    none = WoLALoss(COUNTS, Q, reduction="none")(logits, targets)
    np.testing.assert_allclose(none.numpy(), terms, rtol=1e-12)
    total = WoLALoss(COUNTS, Q, reduction="sum")(logits, targets)
    assert float(total) == pytest.approx(sum(terms), rel=1e-12)


def test_over_the_whole_local_data_every_class_weighs_as_in_q():
    targets = torch.repeat_interleave(torch.arange(4), torch.tensor(COUNTS))
    logits = torch.randn(20, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    losses = cross_entropies(logits)
    expected = sum(Q[c] * losses[targets == c, c].mean() for c in (0, 1, 3))
    for level in ("dataset", "batch"):
        assert float(WoLALoss(COUNTS, Q, level=level)(logits, targets)) == pytest.approx(expected)


def test_a_worker_that_follows_q_has_the_plain_cross_entropy():
    logits, targets = batch()
    loss = WoLALoss([1, 1, 1, 1], Uniform())
    torch.testing.assert_close(loss(logits, targets), F.cross_entropy(logits, targets))


def test_prior_uniform_and_plain_vectors_give_the_same_weights():
    assert torch.equal(WoLALoss(COUNTS, Prior(Q)).weights, WoLALoss(COUNTS, Q).weights)
    uniform = WoLALoss(COUNTS, torch.full((4,), 0.25))
    assert torch.equal(WoLALoss(COUNTS, Uniform()).weights, uniform.weights)


def test_the_batch_level_uses_the_classes_of_the_batch():
    logits, _ = batch(5)
    targets = torch.tensor([0, 0, 3, 0, 3])
    losses = cross_entropies(logits)
    plain = Q[0] * losses[[0, 1, 3], 0].mean() + Q[3] * losses[[2, 4], 3].mean()
    loss = WoLALoss(COUNTS, Q, level="batch")
    assert float(loss(logits, targets)) == pytest.approx(plain, rel=1e-12)
    named = WoLALoss(COUNTS, Q, level="batch", renormalise=True)
    assert float(named(logits, targets)) == pytest.approx(plain / (Q[0] + Q[3]), rel=1e-12)


def test_renormalising_at_the_level_of_the_data_set_divides_by_the_mass_held():
    logits, targets = batch()
    plain = WoLALoss(COUNTS, Q)(logits, targets)
    named = WoLALoss(COUNTS, Q, renormalise=True)(logits, targets)
    assert float(named) == pytest.approx(float(plain) / 0.9, rel=1e-12)


def test_a_batch_without_any_mass_gives_zero_and_a_zero_gradient():
    logits = torch.randn(2, 2, generator=torch.Generator().manual_seed(1), requires_grad=True)
    loss = WoLALoss([1, 1], [1.0, 0.0], level="batch", renormalise=True)
    value = loss(logits, torch.tensor([1, 1]))
    value.backward()
    assert value.item() == 0.0
    assert not logits.grad.any()


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("ignore_index", [-100, 1, 2])
def test_ignored_samples_count_nowhere(level, ignore_index):
    logits, targets = batch()
    kept = targets != 1
    targets = torch.where(kept, targets, ignore_index)
    options = {"level": level, "ignore_index": ignore_index}
    whole = WoLALoss(COUNTS, Q, **options)(logits, targets)
    alone = WoLALoss(COUNTS, Q, level=level)(logits[kept], targets[kept])
    assert 0 < int(kept.sum()) < 12
    torch.testing.assert_close(whole, alone)
    none = WoLALoss(COUNTS, Q, reduction="none", **options)(logits, targets)
    assert none.shape == (12,)
    assert not none[~kept].any()


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("size", [0, 3])
def test_a_batch_of_nothing_but_ignored_samples_gives_zero(level, size):
    logits = torch.zeros(size, 4, requires_grad=True)
    value = WoLALoss(COUNTS, Q, level=level)(logits, torch.full((size,), -100))
    value.backward()
    assert value.item() == 0.0
    assert not logits.grad.any()


def test_soft_labels_give_the_expected_loss():
    logits, _ = batch()
    shares, weights = soft_labels(), wola_weights(COUNTS, Q).numpy()
    expected = (shares.numpy() * weights * cross_entropies(logits)).sum(1)
    loss = WoLALoss(COUNTS, Q, reduction="none")
    np.testing.assert_allclose(loss(logits, shares).numpy(), expected, rtol=1e-12)
    mean = WoLALoss(COUNTS, Q)(logits, shares)
    assert float(mean) == pytest.approx(expected.mean(), rel=1e-12)


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("renormalise", [False, True])
def test_one_hot_soft_labels_are_hard_labels(level, renormalise):
    logits, targets = batch(5)
    loss = WoLALoss(COUNTS, Q, level=level, renormalise=renormalise)
    soft = F.one_hot(targets, 4).to(torch.float32)
    torch.testing.assert_close(loss(logits, soft), loss(logits, targets))


def smoothed_reference(logits, labels, weights, s) -> np.ndarray:
    """sum_c t^c w^c (-log softmax(z)^c), t = (1 - s) label + s u over classes 0, 1 and 3."""
    t = (1 - s) * labels + s * np.array([1, 1, 0, 1]) / 3
    return (t * weights * cross_entropies(logits)).sum(1)


@pytest.mark.parametrize("s", [0.0, 0.1, 1.0])
def test_label_smoothing_spreads_over_the_classes_held(s):
    logits, targets = batch()
    p = np.array(COUNTS) / 20
    weights = np.array([q / share if share else 0 for q, share in zip(Q, p, strict=True)])
    loss = WoLALoss(COUNTS, Q, label_smoothing=s, reduction="none")
    expected = smoothed_reference(logits, np.eye(4)[targets], weights, s)
    np.testing.assert_allclose(loss(logits, targets).numpy(), expected, rtol=1e-12)
    shares = soft_labels()
    expected = smoothed_reference(logits, shares.numpy(), weights, s)
    np.testing.assert_allclose(loss(logits, shares).numpy(), expected, rtol=1e-12)


def test_smoothing_at_batch_level_leaves_classes_absent_from_the_batch_without_weight():
    logits, _ = batch(5)
    targets = torch.tensor([0, 0, 3, 0, 3])
    weights = np.array([Q[0] * 5 / 3, 0, 0, Q[3] * 5 / 2])
    expected = smoothed_reference(logits, np.eye(4)[targets], weights, 0.3).mean()
    loss = WoLALoss(COUNTS, Q, level="batch", label_smoothing=0.3)
    assert float(loss(logits, targets)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("soft", [False, True])
def test_every_position_of_an_image_is_a_sample(level, smoothing, soft):
    flat, targets = batch(24)
    targets = soft_labels(24) if soft else targets
    loss = WoLALoss(COUNTS, Q, level=level, label_smoothing=smoothing)
    # (B d1 d2, C) -> (B, d1, d2, C) -> (B, C, d1, d2)
    logits = flat.view(2, 4, 3, 4).movedim(-1, 1)
    labels = targets.view(2, 4, 3, 4).movedim(-1, 1) if soft else targets.view(2, 4, 3)
    torch.testing.assert_close(loss(logits, labels), loss(flat, targets), rtol=1e-12, atol=0)
    terms = WoLALoss(COUNTS, Q, level=level, label_smoothing=smoothing, reduction="none")
    assert terms(logits, labels).shape == (2, 4, 3)
    torch.testing.assert_close(terms(logits, labels).flatten(), terms(flat, targets))


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("soft", [False, True])
def test_one_sample_without_a_batch_is_a_batch_of_one(level, soft):
    logits, targets = batch(1)
    targets = soft_labels(1) if soft else targets
    for reduction in ("mean", "sum", "none"):
        loss = WoLALoss(COUNTS, Q, level=level, reduction=reduction)
        alone = loss(logits[0], targets[0])
        assert alone.shape == ()
        torch.testing.assert_close(alone, loss(logits, targets).squeeze())


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_gradients_are_exact_in_double(level, smoothing):
    logits, targets = batch(4)
    logits.requires_grad_()
    for labels in (targets, soft_labels(4)):
        loss = WoLALoss(COUNTS, Q, level=level, label_smoothing=smoothing)
        assert torch.autograd.gradcheck(lambda x, t=labels, f=loss: f(x, t), logits)


def test_the_plain_function_is_the_loss_of_the_class():
    logits, targets = batch()
    weights = wola_weights(COUNTS, Q)
    for reduction in ("mean", "sum", "none"):
        expected = WoLALoss(COUNTS, Q, reduction=reduction)(logits, targets)
        assert torch.equal(wola_loss(logits, targets, weights, reduction=reduction), expected)


def test_shifts_are_added_to_the_logits_and_minus_infinity_takes_a_class_out():
    logits, targets = batch()
    weights = wola_weights(COUNTS, Q)
    shifts = torch.tensor([0.5, -1.0, -math.inf, 2.0], dtype=torch.float64)
    kept = [0, 1, 3]
    losses = cross_entropies((logits + shifts)[:, kept])
    column = {0: 0, 1: 1, 3: 2}
    expected = [float(weights[y]) * losses[k, column[y]] for k, y in enumerate(targets.tolist())]
    terms = wola_loss(logits, targets, weights, shifts, reduction="none")
    np.testing.assert_allclose(terms.numpy(), expected, rtol=1e-12)
    soft = wola_loss(logits, soft_labels(), weights, shifts)
    by_hand = (soft_labels()[:, kept].numpy() * weights[kept].numpy() * losses).sum(1).mean()
    assert float(soft) == pytest.approx(by_hand, rel=1e-12)
