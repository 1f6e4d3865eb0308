"""The losses: their class weights, shifts and margins, and the batches' losses they make."""

import math
from dataclasses import FrozenInstanceError

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.labels import (
    DMFL,
    LOSSES,
    CrossEntropy,
    FedLC,
    LogitAdjusted,
    WoLA,
    WoLABatch,
    checked_terms,
    rescaled_distribution,
)
from wola.labels.cross_entropy import weighted_cross_entropy

COUNTS = torch.tensor([5, 1, 0, 14])
Q = torch.tensor([0.4, 0.3, 0.1, 0.2], dtype=torch.float64)
RIVALS = {"fedlc": FedLC, "dmfl": DMFL, "logit-adjusted": LogitAdjusted}


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_wola_weights_are_q_over_p_at_either_level(data):
    counts = data.draw(st.lists(st.integers(0, 500), min_size=1, max_size=8).filter(any))
    raw = data.draw(st.lists(st.floats(0.01, 1), min_size=len(counts), max_size=len(counts)))
    q = rescaled_distribution(raw)
    mass = math.fsum(float(q[c]) for c, count in enumerate(counts) if count)
    for renormalise in (False, True):
        expected = [
            float(q[c]) * sum(counts) / count / (mass if renormalise else 1) if count else 0.0
            for c, count in enumerate(counts)
        ]
        for loss in (WoLA(renormalise), WoLABatch(renormalise)):
            terms = checked_terms(loss, torch.tensor(counts), q)
            assert terms.weights.tolist() == pytest.approx(expected, rel=1e-12)
            assert terms.shifts is None


def test_cross_entropy_weighs_every_class_the_same_even_without_samples():
    for counts in (COUNTS, torch.zeros(4, dtype=torch.int64)):
        terms = checked_terms(CrossEntropy(), counts, Q)
        assert terms.weights.tolist() == [1.0] * 4
        assert terms.shifts is None


def test_a_batch_without_any_mass_has_weights_of_zero():
    terms = WoLABatch(renormalise=True).terms(torch.tensor([0, 3]), torch.tensor([1.0, 0.0]))
    assert terms.weights.tolist() == [0.0, 0.0]


def test_only_the_batch_level_takes_the_counts_of_each_batch():
    assert {name: loss.per_batch for name, loss in LOSSES.items()} == {
        "cross-entropy": False,
        "wola": False,
        "wola-batch": True,
        "fedlc": False,
        "fedrs": False,
        "dmfl": False,
        "logit-adjusted": False,
        "wola-shift": False,
    }


@pytest.mark.parametrize("loss", LOSSES.values())
def test_a_loss_is_a_frozen_value(loss):
    assert loss() == loss()
    assert hash(loss()) == hash(loss())
    with pytest.raises(FrozenInstanceError):
        loss().per_batch = True


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        LOSSES["mine"] = WoLA


@pytest.mark.parametrize("loss", [WoLA, WoLABatch])
def test_renormalise_must_be_a_bool(loss):
    with pytest.raises(TypeError, match="renormalise must be a bool, got 1"):
        loss(1)


def logit_of(name, z, c, y, counts, tau):
    """The logit of class c in a sample of class y as its definition has it, in plain Python."""
    if name == "logit-adjusted":
        return z + tau * math.log(counts[c] / sum(counts)) if counts[c] else -math.inf
    calibrated = z - tau * max(counts[c], 1e-8) ** (-1 / 4)
    return calibrated if name == "fedlc" or c == y else z


def plain_loss(name, logits, targets, counts, tau):
    """The mean of -log softmax over a batch, sample by sample."""
    losses = []
    for row, y in zip(logits.tolist(), targets.tolist(), strict=True):
        shifted = [logit_of(name, z, c, y, counts, tau) for c, z in enumerate(row)]
        losses.append(math.log(math.fsum(map(math.exp, shifted))) - shifted[y])
    return math.fsum(losses) / len(losses)


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(sorted(RIVALS)),
    counts=st.lists(st.integers(0, 10_000), min_size=1, max_size=8).filter(any),
    tau=st.floats(0.01, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_rivals_are_their_definitions(name, counts, tau, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(6, len(counts), generator=generator, dtype=torch.float64)
    held = torch.tensor([c for c, count in enumerate(counts) if count])
    targets = held[torch.randint(len(held), (6,), generator=generator)]
    q = torch.full((len(counts),), 1 / len(counts))
    terms = checked_terms(RIVALS[name](tau), torch.tensor(counts), q)
    made = weighted_cross_entropy(logits, targets, terms.weights, terms.shifts, terms.margins)
    expected = plain_loss(name, logits, targets, counts, tau)
    assert float(made) == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("name", RIVALS)
def test_rivals_look_neither_at_q_nor_weigh_classes(name):
    first = checked_terms(RIVALS[name](), COUNTS, Q)
    other = checked_terms(RIVALS[name](), COUNTS, Q.flip(0))
    assert first.weights.tolist() == [1.0] * 4
    for part in ("weights", "shifts", "margins"):
        one, two = getattr(first, part), getattr(other, part)
        assert two is None if one is None else torch.equal(one, two)


def test_a_class_that_a_worker_lacks_is_shifted_by_100_tau_under_fedlc():
    shifts = checked_terms(FedLC(tau=0.5), COUNTS, Q).shifts
    assert float(shifts[2]) == pytest.approx(-50, rel=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("counts", [[0, 7, 0], [3, 7, 0], [3, 7, 2]], ids=str)
def test_every_loss_and_its_gradient_are_finite_in_every_precision(name, counts, dtype):
    terms = checked_terms(LOSSES[name](), torch.tensor(counts), torch.full((3,), 1 / 3))
    logits = torch.tensor([[40.0, -40.0, 3.0], [0.0, 50.0, 60.0]], dtype=dtype, requires_grad=True)
    targets = torch.tensor([1, 1])
    loss = weighted_cross_entropy(
        logits, targets, terms.weights, terms.shifts, terms.margins, terms.factors
    )
    loss.backward()
    assert loss.isfinite()
    assert logits.grad.isfinite().all()
    if name in ("logit-adjusted", "wola-shift"):
        absent = torch.tensor(counts) == 0
        assert not logits.grad[:, absent].any()
        assert bool(logits.grad.any()) == (sum(count > 0 for count in counts) > 1)
    elif dtype == torch.float64:
        assert logits.grad.any()


def test_inverse_frequency_is_wola_with_q_uniform():
    counts = [5, 1, 0, 14]
    inverse = [sum(counts) / (len(counts) * count) if count else 0.0 for count in counts]
    weights = checked_terms(WoLA(), torch.tensor(counts), torch.full((4,), 0.25)).weights
    assert weights.tolist() == pytest.approx(inverse, rel=1e-12)


@pytest.mark.parametrize("loss", RIVALS.values())
@pytest.mark.parametrize("tau", [0, -1.0, math.nan, math.inf, 1e6, True, "1", None])
def test_a_tau_that_is_no_positive_number_is_refused(loss, tau):
    with pytest.raises(
        (ValueError, TypeError), match=r"tau = .*; allowed: a finite number > 0 and"
    ):
        loss(tau)
