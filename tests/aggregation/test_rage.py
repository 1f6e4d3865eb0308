"""RAGE."""

import numpy as np
import pytest

from tests import reference, reference_newer_rules
from tests.rules import updates
from wola.aggregation import CAF, RAGE, Mean


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("bound", [None, 4.0])
def test_it_is_the_reference_when_liars_pull_in_one_direction(seed, bound):
    x = updates(11, 6, seed=seed)
    x[:3] += 5.0
    expected = reference_newer_rules.rage(x, 3, -1.0 if bound is None else bound)
    np.testing.assert_allclose(RAGE(bound)(x, 3), expected, atol=1e-8)


def test_its_first_step_is_that_of_caf():
    # CAF stops with no more than n - 2f of the weight left: here after one step, as does RAGE.
    x = np.array([[0.0, 0.1], [0.2, 0.0], [0.1, -0.2], [-0.1, 0.0], [9.0, 0.3]])
    variance, direction = reference.top_eigenpair(x, np.ones(5))
    tau = ((x - x.mean(axis=0)) @ direction) ** 2
    after = (1 - tau / tau.max()) / (1 - tau / tau.max()).sum()
    second, _ = reference.top_eigenpair(x, after)
    one_step = RAGE(bound=(second + variance) / 2).weights(x, 1)
    np.testing.assert_allclose(one_step, after, atol=1e-12)
    np.testing.assert_allclose(CAF(pace="weighted").weights(x, 1), after, atol=1e-12)


@pytest.mark.parametrize("rule", [RAGE(), RAGE(bound=0.0)], ids=str)
def test_without_byzantine_workers_it_is_the_mean(rule):
    x = updates(6, 4)
    np.testing.assert_allclose(rule(x, 0), Mean()(x, 0), atol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e140])
def test_a_bound_that_the_spread_never_reaches_leaves_the_mean(scale):
    x = scale * updates(9, 4)
    np.testing.assert_allclose(RAGE(bound=1e308)(x, 4), x.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-70, 1e130])
def test_the_bound_is_a_variance_in_the_units_of_the_updates(scale):
    x = updates(9, 4)
    x[:2] += 6.0
    variance, _ = reference.top_eigenpair(x, np.ones(9))
    mean = (scale * x).mean(axis=0)
    np.testing.assert_allclose(RAGE(1.01 * variance * scale**2)(scale * x, 2), mean, rtol=1e-9)
    filtered = RAGE(0.99 * variance * scale**2)(scale * x, 2)
    assert np.abs(filtered - mean).max() > 0.1 * scale


def test_no_step_leaves_less_than_n_minus_2f_of_the_weight():
    for seed in range(20):
        x = updates(11, 5, seed=seed)
        weights = RAGE().weights(x, 2)
        # No weight c_i is above 1, and they add up to 7 at least.
        assert weights.max() <= 1 / 7 + 1e-12


def test_updates_that_agree_come_back_beside_liars():
    x = np.tile(updates(1, 6), (11, 1))
    x[:4] += 30.0 + updates(4, 6, seed=3)
    np.testing.assert_allclose(RAGE()(x, 4), x[-1], rtol=1e-12)


@pytest.mark.parametrize("bound", [-1.0, float("nan"), float("inf"), "1", True])
def test_bad_bounds_are_refused(bound):
    with pytest.raises((ValueError, TypeError), match="bound"):
        RAGE(bound=bound)
