"""Ties, extremes, orders and weights of rules on updates that a search chooses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.rules import PLAIN_RULES, RuleEntry, generator
from wola.aggregation import (
    CoordinateMedian,
    GeometricMedian,
    Krum,
    MeaMed,
    Mean,
    MultiKrum,
    TrimmedMean,
)

FINITE = st.floats(-1e3, 1e3, allow_nan=False, width=32)
AVERAGES = [entry for entry in PLAIN_RULES if entry.options.get("average", True)]


@pytest.mark.parametrize("entry", AVERAGES, ids=str)
@settings(deadline=None, max_examples=40, derandomize=True)
@given(data=st.data())
def test_an_average_stays_between_the_extremes_of_each_coordinate(entry: RuleEntry, data):
    n, d = data.draw(st.integers(3, 9)), data.draw(st.integers(1, 5))
    x = data.draw(arrays(np.float32, (n, d), elements=FINITE))
    f = data.draw(st.integers(0, entry.rule.max_byzantine(n)))
    result = entry.rule(x, f, generator())
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
