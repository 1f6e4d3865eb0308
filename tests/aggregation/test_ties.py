"""Ties: found where they are in fractions, shared, and the same in any order of the workers."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests import exact_reference as exact
from tests.rules import generator
from wola.aggregation import (
    CAF,
    GAS,
    RAGE,
    SMEA,
    Bulyan,
    ComparativeGradientElimination,
    CoordinateMedian,
    DnC,
    GeometricMedian,
    Huber,
    Krum,
    MeaMed,
    MinimumDiameterAveraging,
    MultiKrum,
    NormalisedMean,
    SoftSetHull,
    TrimmedMean,
)
from wola.mixing import ARC, NNM, FoundationFL


def then(mixing, rule):
    return lambda x, f: rule(mixing(x, f), f)


def multi_krum(power):
    return lambda x, f: exact.multi_krum(x, f, len(x) - f, power)


EXACT = {
    Krum(): lambda x, f: exact.multi_krum(x, f, 1, 2),
    Krum(power=1): lambda x, f: exact.multi_krum(x, f, 1, 1),
    MultiKrum(): multi_krum(2),
    MultiKrum(power=1): multi_krum(1),
    MultiKrum(m=2): lambda x, f: exact.multi_krum(x, f, 2, 2),
    MeaMed(): exact.meamed,
    TrimmedMean(): exact.trimmed_mean,
    ComparativeGradientElimination(): exact.elimination,
    MinimumDiameterAveraging(): exact.minimum_diameter_averaging,
    Bulyan(): exact.bulyan,
    NNM() | Krum(): then(exact.nnm, lambda x, f: exact.multi_krum(x, f, 1, 2)),
    NNM() | MultiKrum(): then(exact.nnm, multi_krum(2)),
    NNM() | MultiKrum(power=1): then(exact.nnm, multi_krum(1)),
    NNM() | TrimmedMean(): then(exact.nnm, exact.trimmed_mean),
    NNM() | ComparativeGradientElimination(): then(exact.nnm, exact.elimination),
    FoundationFL() | TrimmedMean(): then(lambda x, f: exact.foundation_fl(x), exact.trimmed_mean),
    NNM() | FoundationFL() | TrimmedMean(): then(
        exact.nnm, then(lambda x, f: exact.foundation_fl(x), exact.trimmed_mean)
    ),
}
# What these rank holds the common part, and is rounded once before: means of tied updates.
ROUNDED_BEFORE_THEY_RANK = {Bulyan(), NNM() | ComparativeGradientElimination()}
EVERY_RULE = pytest.mark.parametrize("rule", EXACT, ids=str)


def whole_numbers(kind, n, d, rng):
    """Updates of small whole numbers in which much is tied, (n, d)."""
    x = rng.integers(-2, 3, (n, d))
    if kind == "duplicated":
        x = x[rng.integers(0, max(1, n // 2), n)]
    elif kind == "equally spaced":
        x = 3 * np.arange(n)[:, None] * np.ones((1, d), dtype=np.int64)
    elif kind == "corners":
        x = np.eye(n, d, dtype=np.int64)
    elif kind == "translated":
        x = x + 1_000_003
    elif kind == "with one far away":
        x[0] = 10_000
    return rng.permutation(x)


KINDS = ["random", "duplicated", "equally spaced", "corners", "translated", "with one far away"]


def sizes(rule):
    for n in (3, 4, 7, 17):
        if n == 17 and isinstance(rule, MinimumDiameterAveraging):
            continue
        for f in sorted({min(1, rule.max_byzantine(n)), rule.max_byzantine(n)}):
            yield n, f


def assert_exact(rule, x, f, dtype):
    fractions = [[Fraction(int(v)) for v in row] for row in x]
    expected = np.array([float(v) for v in EXACT[rule](fractions, f)])
    result = rule(x.astype(dtype), f).astype(np.float64)
    tolerance = {np.float64: 1e-12, np.float32: 4e-7}[dtype] * max(1, np.abs(expected).max())
    np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance, err_msg=f"{f}, {x}")


def has_exact_ties(rule, kind, dtype):
    """Whether the numbers that a rule ranks can be written: a million and a third cannot."""
    if rule == Bulyan() and dtype == np.float32:
        return False
    return kind != "translated" or rule not in ROUNDED_BEFORE_THEY_RANK


@pytest.mark.parametrize(
    ("rule", "kind", "dtype"),
    [case for case in product(EXACT, KINDS, [np.float32, np.float64]) if has_exact_ties(*case)],
    ids=lambda part: part.__name__ if isinstance(part, type) else str(part),
)
def test_ties_of_whole_numbers_are_those_of_fractions(rule, kind, dtype):
    rng = np.random.default_rng(7)
    for n, f in sizes(rule):
        for d in (1, 12):
            assert_exact(rule, whole_numbers(kind, n, d, rng), f, dtype)


@EVERY_RULE
@settings(deadline=None, max_examples=25, derandomize=True)
@given(data=st.data())
def test_ties_that_a_search_finds_are_those_of_fractions(rule, data):
    n, d = data.draw(st.integers(3, 9)), data.draw(st.integers(1, 4))
    x = data.draw(arrays(np.int64, (n, d), elements=st.integers(-2, 2)))
    f = data.draw(st.integers(0, rule.max_byzantine(n)))
    assert_exact(rule, x, f, np.float64)


@pytest.mark.parametrize(
    "rule",
    [
        *EXACT,
        SMEA(),
        CAF(),
        CAF(pace="weighted"),
        RAGE(),
        DnC(),
        DnC(iterations=3, columns=2),
        NNM() | DnC(columns=2),
        GeometricMedian(),
        Huber(),
        Huber(threshold=1.0),
        NormalisedMean(),
        SoftSetHull(),
        NNM() | SoftSetHull(),
        GAS(),
        GAS(groups=2),
        GAS(CoordinateMedian(), groups=2),
        NNM() | GAS(),
        ARC() | NNM() | Krum(),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_tied_workers_decides_nothing(rule, kind):
    rng = np.random.default_rng(11)
    for n in (4, 7, 9):
        f = rule.max_byzantine(n)
        x = whole_numbers(kind, n, 3, rng).astype(np.float64)
        expected = rule(x, f, generator())
        weights = rule.weights(x, f, generator())
        for _ in range(3):
            order = rng.permutation(n)
            largest = np.abs(x).max()
            result = rule(x[order], f, generator())
            np.testing.assert_allclose(result, expected, rtol=0, atol=1e-9 * largest)
            if weights is not None:
                found = rule.weights(x[order], f, generator())
                np.testing.assert_allclose(found, weights[order], rtol=0, atol=1e-7)


def test_eight_equal_lies_and_nine_merged_points_share():
    # At n = 17, f = 8 all have Krum score 0: nobody is preferred for the position it holds.
    x = np.concatenate([np.full((9, 3), 1.0), np.full((8, 3), 4.0)])
    for order in (slice(None), slice(None, None, -1)):
        weights = (NNM() | Krum()).weights(x[order], 8)
        np.testing.assert_allclose(Krum().weights(x[order], 8), 1 / 17)
        assert weights.sum() == pytest.approx(1)
