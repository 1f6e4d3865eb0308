"""The geometric median."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference
from tests.rules import updates
from wola.aggregation import GeometricMedian, Mean


def sum_of_distances(x, z):
    return np.linalg.norm(x - z, axis=1).sum()


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(3, 12), st.integers(2, 6), st.integers(0, 10**6))
def test_it_is_the_minimiser_however_near_a_worker_the_minimiser_is(n, d, seed):
    x = updates(n, d, seed=seed)
    error = np.linalg.norm(GeometricMedian()(x, 1) - reference.geometric_median(x))
    assert error < 1e-6


def test_four_updates_whose_median_lies_beside_one_of_them():
    x = updates(4, 2)
    expected = reference.geometric_median(x)
    np.testing.assert_allclose(GeometricMedian()(x, 1), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("n", [2, 4, 5, 8])
def test_on_a_line_no_other_point_is_nearer_to_all(n):
    x = updates(n, 1)
    best = min(sum_of_distances(x, row) for row in x)
    assert sum_of_distances(x, GeometricMedian()(x, 0)) <= best + 1e-9


@pytest.mark.parametrize("magnitude", [1e4, 1e8, 1e15, 1e30])
@pytest.mark.parametrize("far", [1, 4])
def test_unit_vectors_cancel_there_beside_workers_far_away(magnitude, far):
    x = updates(9, 40)
    x[:far] *= magnitude
    towards = x - GeometricMedian()(x, 4)
    units = towards / np.linalg.norm(towards, axis=1, keepdims=True)
    assert np.linalg.norm(units.sum(axis=0)) < 1e-5


def test_a_majority_at_one_point_is_returned_exactly():
    x = torch.tensor([[1.5, -2.0]] * 4 + [[1e9, 3.0], [7.0, -1e9], [0.0, 0.0]])
    assert GeometricMedian()(x, 3).tolist() == [1.5, -2.0]


def test_it_does_not_become_the_mean_when_all_distances_are_tiny():
    x = 1e-9 * updates(7, 5)
    expected = reference.geometric_median(x)
    np.testing.assert_allclose(GeometricMedian()(x, 3), expected, rtol=0, atol=1e-15)


def test_the_papers_setting_is_the_mean_once_all_distances_are_below_nu():
    x = 1e-3 * updates(7, 5)
    np.testing.assert_allclose(
        GeometricMedian(iterations=10, nu=0.1)(x, 3), Mean()(x, 3), atol=1e-12
    )


@pytest.mark.parametrize("iterations", [1, 2, 3, 25])
@pytest.mark.parametrize("nu", [1e-6, 0.1, 3.0])
def test_a_given_number_of_steps_is_taken_from_zero(iterations, nu):
    x = updates(6, 4)
    expected = reference.smoothed_weiszfeld(x, iterations, nu)
    result = GeometricMedian(iterations, nu)(x, 2)
    np.testing.assert_allclose(result, expected, atol=1e-10)


def test_steps_without_nu_stand_an_update_at_zero():
    x = updates(6, 4)
    x[2] = 0.0
    assert np.isfinite(GeometricMedian(iterations=4)(x, 2)).all()


@pytest.mark.parametrize("iterations", [0, -1, 2.5, True, "3"])
def test_bad_iterations_are_refused(iterations):
    with pytest.raises((ValueError, TypeError), match="iterations"):
        GeometricMedian(iterations=iterations)


@pytest.mark.parametrize("nu", [0, -1.0, float("nan"), float("inf"), "0.1"])
def test_bad_nu_is_refused(nu):
    with pytest.raises((ValueError, TypeError), match="nu"):
        GeometricMedian(nu=nu)


@pytest.mark.parametrize("apart", [-3.17681601e-75, 1e-160, 1e-300, 1e-18])
def test_updates_that_almost_coincide_are_no_division_by_zero(apart):
    x = np.array([[-1.0], [0.0], [apart]])
    weights = GeometricMedian().weights(x, 0)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert abs(GeometricMedian()(x, 0)[0]) <= abs(apart)
