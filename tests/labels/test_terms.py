"""What a loss may be made of, and what is refused of a user's own."""

import math
from dataclasses import dataclass

import pytest
import torch

from wola.labels import LOSSES, Loss, Terms, checked_terms

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


ONES = torch.ones(4)


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
        for name in ("shifts", "margins", "factors"):
            of_all, of_one = getattr(together, name), getattr(alone, name)
            assert of_one is None if of_all is None else torch.equal(of_all[row], of_one)


def test_terms_come_back_in_float64_whatever_a_loss_gives():
    terms = checked_terms(Given(Terms(torch.ones(4).half(), torch.arange(4))), COUNTS, Q.float())
    assert (terms.weights.dtype, terms.shifts.dtype) == (torch.float64, torch.float64)
    assert terms.shifts.tolist() == [0, 1, 2, 3]
    margins = checked_terms(Given(Terms(ONES, margins=torch.arange(4))), COUNTS, Q).margins
    assert (margins.dtype, margins.tolist()) == (torch.float64, [0, 1, 2, 3])


def test_classes_that_a_worker_lacks_may_have_a_shift_of_minus_infinity():
    assert checked_terms(Restricted(), COUNTS, Q).shifts.tolist() == [0, 0, -math.inf, 0]


def test_a_worker_without_shifts_beside_one_with_them_has_shifts_of_zero():
    terms = checked_terms(ShiftedIfRare(), torch.tensor([[1, 1, 0, 1], [1, 1, 1, 1]]), Q)
    assert terms.shifts.tolist() == [[0, 1, 2, 3], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("made", "error", "words"),
    [
        (ONES, TypeError, r"terms = tensor\(.*; allowed: Terms\(weights, shifts, mar"),
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
        (Terms(ONES, None, torch.ones(5)), ValueError, r"margins of shape \(5,\); allowed: \(4,\)"),
        (Terms(ONES, None, [0.0] * 4), TypeError, r"margins = \[0.0.*; allowed: a tensor of real"),
        (
            Terms(ONES, None, ONES * math.nan),
            ValueError,
            r"margins = \[nan, .*; allowed: finite num",
        ),
        (Terms(ONES, None, -math.inf * ONES), ValueError, r"margins = \[-inf, .*; allowed: finite"),
        (Terms(ONES, factors=torch.ones(5)), ValueError, r"factors of shape \(5,\); allowed: \(4,"),
        (Terms(ONES, factors=1.0), TypeError, r"factors = 1.0; allowed: a tensor of real"),
        (
            Terms(ONES, factors=-ONES),
            ValueError,
            r"factors = \[-1.0, .*; allowed: finite number",
        ),
        (Terms(ONES, factors=math.inf * ONES), ValueError, r"factors = \[inf, .*; allowed: finite"),
        (Terms(ONES, factors=math.nan * ONES), ValueError, r"factors = \[nan, .*; allowed: finite"),
    ],
)
@pytest.mark.parametrize("workers", [1, 3])
def test_what_a_loss_must_not_return_is_refused_with_its_name(made, error, words, workers):
    counts = COUNTS if workers == 1 else COUNTS.repeat(workers, 1)
    with pytest.raises(error, match=rf"(?s)^Given\(made=.*{words}"):
        checked_terms(Given(made), counts, Q)


def test_a_worker_without_margins_beside_one_with_them_has_margins_of_zero():
    @dataclass(frozen=True)
    class MarginIfRare(Loss):
        def terms(self, counts, q):
            return Terms(q, margins=None if counts[2] else torch.arange(4))

    terms = checked_terms(MarginIfRare(), torch.tensor([[1, 1, 0, 1], [1, 1, 1, 1]]), Q)
    assert terms.margins.tolist() == [[0, 1, 2, 3], [0, 0, 0, 0]]
    assert terms.shifts is None


def test_a_worker_without_factors_beside_one_with_them_has_factors_of_one():
    @dataclass(frozen=True)
    class HalvedIfRare(Loss):
        def terms(self, counts, q):
            return Terms(q, factors=None if counts[2] else torch.arange(4) / 2)

    terms = checked_terms(HalvedIfRare(), torch.tensor([[1, 1, 0, 1], [1, 1, 1, 1]]), Q)
    assert terms.factors.tolist() == [[0, 0.5, 1, 1.5], [1, 1, 1, 1]]
    assert terms.factors.dtype == torch.float64


def test_terms_are_changed_and_moved_all_together():
    terms = Terms(ONES, 2 * ONES, 3 * ONES, 4 * ONES).each(lambda part: part[:2] + 1)
    parts = (terms.weights, terms.shifts, terms.margins, terms.factors)
    assert [part.tolist() for part in parts] == [[2, 2], [3, 3], [4, 4], [5, 5]]
    moved = terms.to(torch.float16, "meta")
    for part in (moved.weights, moved.shifts, moved.margins, moved.factors):
        assert (part.dtype, part.device.type) == (torch.float16, "meta")
    plain = Terms(ONES).to(torch.float64, "cpu")
    assert plain.shifts is plain.margins is plain.factors is None


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
