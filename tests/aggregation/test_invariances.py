"""Ties, extremes, orders and weights of rules on updates that a search chooses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests import reference
from tests.rules import PLAIN_RULES, RuleEntry, assert_close
from wola.aggregation import (
    Bulyan,
    ComparativeGradientElimination,
    CoordinateMedian,
    GeometricMedian,
    Krum,
    MeaMed,
    Mean,
    MinimumDiameterAveraging,
    MultiKrum,
    TrimmedMean,
)


def exact_squares(x):
    """Squared distances of updates with whole coordinates: no rounding, so ties are ties."""
    return np.square(x[:, None] - x[None]).sum(axis=2)


def exact_krum_order(squares, f):
    others = squares + np.where(np.eye(len(squares)), np.inf, 0.0)
    scores = np.sort(others, axis=1)[:, : max(1, len(squares) - f - 2)].sum(axis=1)
    return np.argsort(scores, kind="stable")


def exact_krum(x, f):
    return x[exact_krum_order(exact_squares(x), f)[0]]


def exact_multi_krum(x, f):
    return x[exact_krum_order(exact_squares(x), f)[: len(x) - f]].mean(axis=0)


def exact_bulyan(x, f):
    left, chosen = list(range(len(x))), []
    for _ in range(len(x) - 2 * f):
        chosen.append(left.pop(exact_krum_order(exact_squares(x[left]), f)[0]))
    keep = len(x) - 4 * f
    return np.array([reference.mean_around_median(c.tolist(), keep) for c in x[chosen].T])


TIED = {
    CoordinateMedian(): lambda x, f: reference.coordinate_median(x),
    TrimmedMean(): reference.trimmed_mean,
    MeaMed(): reference.meamed,
    Krum(): exact_krum,
    MultiKrum(): exact_multi_krum,
    Bulyan(): exact_bulyan,
    MinimumDiameterAveraging(): reference.minimum_diameter_averaging,
    ComparativeGradientElimination(): reference.comparative_gradient_elimination,
}


@pytest.mark.parametrize("rule", TIED, ids=str)
@settings(deadline=None, max_examples=60, derandomize=True)
@given(data=st.data())
def test_ties_go_to_the_lowest_index(rule, data):
    n = data.draw(st.integers(3, 8))
    d = data.draw(st.integers(1, 4))
    x = data.draw(arrays(np.float64, (n, d), elements=st.integers(-2, 2).map(float)))
    f = data.draw(st.integers(0, rule.max_byzantine(n)))
    assert_close(rule(x, f), TIED[rule](x, f), np.ones(1), 1e-9)


FINITE = st.floats(-1e3, 1e3, allow_nan=False, width=32)
AVERAGES = [entry for entry in PLAIN_RULES if entry.options.get("average", True)]


@pytest.mark.parametrize("entry", AVERAGES, ids=str)
@settings(deadline=None, max_examples=40, derandomize=True)
@given(data=st.data())
def test_an_average_stays_between_the_extremes_of_each_coordinate(entry: RuleEntry, data):
    n, d = data.draw(st.integers(3, 9)), data.draw(st.integers(1, 5))
    x = data.draw(arrays(np.float32, (n, d), elements=FINITE))
    f = data.draw(st.integers(0, entry.rule.max_byzantine(n)))
    result = entry.rule(x, f)
    slack = 1e-5 * np.abs(x).max()
    assert (result >= x.min(axis=0) - slack).all()
    assert (result <= x.max(axis=0) + slack).all()


@pytest.mark.parametrize("rule", [CoordinateMedian(), TrimmedMean(), MeaMed()], ids=str)
@settings(deadline=None, max_examples=60, derandomize=True)
@given(data=st.data())
def test_coordinate_wise_rules_do_not_see_the_order_of_workers_at_all(rule, data):
    n, d = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 5))
    x = data.draw(arrays(np.float64, (n, d), elements=st.floats(-1e6, 1e6)))
    order = data.draw(st.permutations(range(n)))
    f = data.draw(st.integers(0, (n - 1) // 2))
    np.testing.assert_array_equal(rule(x[order], f), rule(x, f))


@pytest.mark.parametrize("rule", [Krum(), MultiKrum(), GeometricMedian(), Mean()], ids=str)
@settings(deadline=None, max_examples=40, derandomize=True)
@given(data=st.data())
def test_weights_are_a_distribution_over_the_workers(rule, data):
    n, d = data.draw(st.integers(3, 9)), data.draw(st.integers(0, 5))
    x = data.draw(arrays(np.float64, (n, d), elements=st.floats(-1e6, 1e6)))
    f = data.draw(st.integers(0, rule.max_byzantine(n)))
    weights = rule.weights(x, f)
    assert (weights >= 0).all()
    assert abs(weights.sum() - 1) < 1e-9
