"""The losses: their class weights and shifts, and what is refused of a user's own."""

import math
from dataclasses import FrozenInstanceError, dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.labels import (
    LOSSES,
    CrossEntropy,
    Loss,
    Terms,
    WoLA,
    WoLABatch,
    checked_terms,
    rescaled_distribution,
)

COUNTS = torch.tensor([5, 1, 0, 14])
Q = torch.tensor([0.4, 0.3, 0.1, 0.2], dtype=torch.float64)


@dataclass(frozen=True)
class Given(Loss):
    """Returns what it is told to."""

    made: object

    def terms(self, counts, q):
        return self.made


@dataclass(frozen=True)
class Restricted(Loss):
    """Shifts of -inf for the classes that the worker lacks."""

    def terms(self, counts, q):
        return Terms(torch.ones(4), torch.where(counts > 0, 0.0, -math.inf))


@dataclass(frozen=True)
class ShiftedIfRare(Loss):
    """A shift only for workers without class 2."""

    def terms(self, counts, q):
        return Terms(q, None if counts[2] else torch.arange(4))


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


def test_a_loss_without_terms_cannot_be_made():
    with pytest.raises(TypeError, match="terms"):
        type("Mine", (Loss,), {})()


@pytest.mark.parametrize("loss", [*(made() for made in LOSSES.values()), Restricted()])
def test_the_terms_of_several_workers_are_those_of_each(loss):
    counts = torch.tensor([[5, 1, 0, 14], [1, 1, 1, 1], [0, 0, 9, 1]])
    together = checked_terms(loss, counts, Q)
    for row, worker in enumerate(counts):
        alone = checked_terms(loss, worker, Q)
        assert torch.equal(together.weights[row], alone.weights)
        if alone.shifts is None:
            assert together.shifts is None
        else:
            assert torch.equal(together.shifts[row], alone.shifts)


def test_terms_come_back_in_float64_whatever_a_loss_gives():
    terms = checked_terms(Given(Terms(torch.ones(4).half(), torch.arange(4))), COUNTS, Q.float())
    assert (terms.weights.dtype, terms.shifts.dtype) == (torch.float64, torch.float64)
    assert terms.shifts.tolist() == [0, 1, 2, 3]


def test_classes_that_a_worker_lacks_may_have_a_shift_of_minus_infinity():
    assert checked_terms(Restricted(), COUNTS, Q).shifts.tolist() == [0, 0, -math.inf, 0]


def test_a_worker_without_shifts_beside_one_with_them_has_shifts_of_zero():
    terms = checked_terms(ShiftedIfRare(), torch.tensor([[1, 1, 0, 1], [1, 1, 1, 1]]), Q)
    assert terms.shifts.tolist() == [[0, 1, 2, 3], [0, 0, 0, 0]]


ONES = torch.ones(4)


@pytest.mark.parametrize(
    ("made", "error", "words"),
    [
        (ONES, TypeError, r"terms = tensor\(.*; allowed: Terms\(weights, shifts\)"),
        (None, TypeError, "terms = None; allowed: Terms"),
        (Terms([1.0] * 4), TypeError, r"weights = \[1.0, .*; allowed: a tensor of real numbers"),
        (Terms(None), TypeError, "weights = None; allowed: a tensor"),
        (Terms(ONES > 0), TypeError, "weights = tensor.*; allowed: a tensor of real numbers"),
        (Terms(torch.ones(3)), ValueError, r"weights of shape \(3,\); allowed: \(4,\)"),
        (Terms(torch.ones(1, 4)), ValueError, r"weights of shape \(1, 4\); allowed: \(4,\)"),
        (Terms(ONES, torch.ones(5)), ValueError, r"shifts of shape \(5,\); allowed: \(4,\)"),
        (Terms(ONES, 0.0), TypeError, "shifts = 0.0; allowed: a tensor of real numbers"),
        (Terms(-ONES), ValueError, r"weights = \[-1.0, .*; allowed: finite numbers >= 0"),
        (Terms(ONES * math.nan), ValueError, r"weights = \[nan, .*; allowed: finite numbers"),
        (Terms(ONES * math.inf), ValueError, r"weights = \[inf, .*; allowed: finite numbers"),
        (Terms(ONES, ONES * math.inf), ValueError, r"shifts = \[inf, .*; allowed: finite numb"),
        (Terms(ONES, ONES * math.nan), ValueError, r"shifts = \[nan, .*; allowed: finite numb"),
        (Terms(ONES, ONES * -math.inf), ValueError, "-inf for a class with a count of 0"),
    ],
)
@pytest.mark.parametrize("workers", [1, 3])
def test_what_a_loss_must_not_return_is_refused_with_its_name(made, error, words, workers):
    counts = COUNTS if workers == 1 else COUNTS.repeat(workers, 1)
    with pytest.raises(error, match=rf"(?s)^Given\(made=.*{words}"):
        checked_terms(Given(made), counts, Q)


def test_an_infinite_shift_that_is_no_minus_is_refused_for_an_absent_class_too():
    shifts = torch.tensor([0.0, 0.0, math.inf, 0.0])
    with pytest.raises(ValueError, match="allowed: finite numbers, or -inf"):
        checked_terms(Given(Terms(ONES, shifts)), COUNTS, Q)


def test_the_error_shows_the_worker_whose_terms_are_wrong():
    @dataclass(frozen=True)
    class Wrong(Loss):
        def terms(self, counts, q):
            return Terms(counts - 1.0)

    counts = torch.tensor([[1, 2, 3, 4], [5, 0, 7, 8]])
    with pytest.raises(ValueError, match=r"weights = \[4.0, -1.0, 6.0, 7.0\]; allowed"):
        checked_terms(Wrong(), counts, Q)
