"""Kendall's tau, the sign-flip test and the interval, against counting and printed tables."""

from itertools import combinations, product
from math import sqrt
from statistics import fmean, stdev

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wola.report.comparison.agreement import EXACT, kendall_tau, mean_interval, sign_flip_p

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=8)


@settings(max_examples=80, deadline=None)
@given(PAIRS)
def test_tau_counts_pairs_in_the_same_order_and_in_the_other(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    found = kendall_tau(first, second)
    apart = [(a - b, c - d) for (a, c), (b, d) in combinations(pairs, 2)]
    agreeing = sum(x * y > 0 for x, y in apart) - sum(x * y < 0 for x, y in apart)
    untied = sum(x != 0 for x, _ in apart) * sum(y != 0 for _, y in apart)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(agreeing / sqrt(untied), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(PAIRS, st.randoms(use_true_random=False))
def test_tau_is_symmetric_turns_with_an_order_and_heeds_no_arrangement(
    pairs: list[tuple[int, int]], random: object
) -> None:
    first, second = zip(*pairs, strict=True)
    found = kendall_tau(first, second)
    assume(found is not None)
    assert found is not None
    assert kendall_tau(second, first) == pytest.approx(found, abs=1e-12)
    assert kendall_tau(first, [-x for x in second]) == pytest.approx(-found, abs=1e-12)
    mixed = list(pairs)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert kendall_tau(*zip(*mixed, strict=True)) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("numbers", [[], [1.0], [2.0, 2.0]])
def test_there_is_no_order_to_compare_in_too_little(numbers: list[float]) -> None:
    assert kendall_tau(numbers, numbers) is None


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=7))
def test_p_is_the_share_of_sign_patterns_at_least_as_far_out(differences: list[int]) -> None:
    observed = abs(sum(differences))
    patterns = product((-1, 1), repeat=len(differences))
    far = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed
        for signs in patterns
    ]
    assert sign_flip_p(differences) == pytest.approx(fmean(far), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-10, 10, allow_subnormal=False), min_size=1, max_size=7),
    st.sampled_from([-3.0, 0.1, 7.0]),
)
def test_p_does_not_depend_on_the_unit_or_the_direction(
    differences: list[float], factor: float
) -> None:
    # Sums that cancel to rounding errors are as far out as one another, or not, by accident.
    assume(abs(sum(differences)) > 1e-3)
    assert sign_flip_p([factor * d for d in differences]) == sign_flip_p(differences)


@pytest.mark.parametrize(("pairs", "least"), [(1, 1.0), (2, 0.5), (3, 0.25), (6, 0.03125)])
def test_p_cannot_be_smaller_than_the_number_of_pairs_allows(pairs: int, least: float) -> None:
    assert sign_flip_p([5.0 + i for i in range(pairs)]) == least


def test_equal_numbers_tell_nothing_and_no_numbers_have_no_p() -> None:
    assert sign_flip_p([0.0, 0.0, 0.0]) == 1.0
    assert sign_flip_p([]) is None


def test_many_pairs_are_tested_by_sampling_and_p_is_never_zero() -> None:
    alternating = [(-1.0) ** i for i in range(EXACT + 4)]
    assert sign_flip_p(alternating) == 1.0
    shifted = sign_flip_p([1.0] * (EXACT + 14))
    assert shifted is not None
    assert 0 < shifted < 1e-3


#: The quantiles 0.975 of Student's distribution, as tables print them.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262}


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(list(STUDENT)), st.data())
def test_an_interval_reaches_as_far_as_student_says(freedom: int, data: st.DataObject) -> None:
    size = freedom + 1
    numbers = data.draw(st.lists(st.floats(-50, 50), min_size=size, max_size=size))
    found = mean_interval(numbers)
    assert found is not None
    reach = STUDENT[freedom] * stdev(numbers) / sqrt(size)
    assert found[0] == pytest.approx(fmean(numbers) - reach, rel=1e-3, abs=1e-3 * reach + 1e-9)
    assert found[1] == pytest.approx(fmean(numbers) + reach, rel=1e-3, abs=1e-3 * reach + 1e-9)


def test_one_number_has_no_interval_and_equal_ones_a_point() -> None:
    assert mean_interval([]) is None
    assert mean_interval([3.0]) is None
    assert mean_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)
