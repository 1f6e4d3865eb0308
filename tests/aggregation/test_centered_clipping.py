"""Centred clipping."""

import numpy as np
import pytest

from tests import reference
from tests.rules import updates
from wola.aggregation import CenteredClipping, Mean


@pytest.mark.parametrize("tau", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("iterations", [1, 2, 10])
def test_it_is_the_reference_for_every_radius_and_number_of_steps(tau, iterations):
    x = updates(7, 12)
    expected = reference.centered_clipping(x, tau, iterations)
    result = CenteredClipping(tau, iterations)(x, 3)
    np.testing.assert_allclose(result, expected, atol=1e-10)


def test_liars_move_the_result_by_at_most_tau_a_step():
    x = updates(7, 12)
    x[:3] = 1e9
    assert np.linalg.norm(CenteredClipping(tau=0.5, iterations=2)(x, 3)) <= 1.0 + 1e-9


def test_a_wide_radius_is_the_mean():
    x = updates(7, 12)
    np.testing.assert_allclose(CenteredClipping(tau=1e6)(x, 3), Mean()(x, 3), atol=1e-12)


def test_it_can_start_at_the_last_aggregate_by_aggregating_differences():
    x, last = updates(7, 12), updates(1, 12, seed=9)[0]
    expected = reference.centered_clipping(x, 2.0, 3, start=last)
    rule = CenteredClipping(tau=2.0, iterations=3)
    np.testing.assert_allclose(last + rule(x - last, 3), expected, atol=1e-10)


@pytest.mark.parametrize("tau", [0, -1.0, float("nan"), float("inf"), "1"])
def test_a_bad_tau_is_refused(tau):
    with pytest.raises((ValueError, TypeError), match="tau"):
        CenteredClipping(tau=tau)


@pytest.mark.parametrize("iterations", [0, -2, 1.5, True, None])
def test_bad_iterations_are_refused(iterations):
    with pytest.raises((ValueError, TypeError), match="iterations"):
        CenteredClipping(iterations=iterations)
