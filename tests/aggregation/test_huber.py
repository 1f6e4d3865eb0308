"""The Huber minimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference_newer_rules import huber_pull, huber_threshold
from tests.rules import updates
from wola.aggregation import GeometricMedian, Huber, Mean


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    st.integers(3, 12),
    st.integers(2, 6),
    st.sampled_from([1e-6, 1e-3, 0.1, 0.7, 3.0]),
    st.integers(0, 10**6),
)
def test_the_gradient_of_the_losses_is_zero_there(n, d, threshold, seed):
    x = updates(n, d, seed=seed)
    pull = huber_pull(x, Huber(threshold)(x, 1), threshold) / threshold
    # Where rounding moves z by 1e-16, the pull of an update this near moves by 1e-16 / threshold.
    assert np.linalg.norm(pull) < 1e-12 + 1e-13 / threshold


@pytest.mark.parametrize("threshold", [0.3, 1.0, 4.0])
def test_smoothed_weiszfeld_steps_lead_there(threshold):
    x = updates(9, 5)
    stepped = GeometricMedian(iterations=3000, nu=threshold)(x, 4)
    np.testing.assert_allclose(Huber(threshold)(x, 4), stepped, rtol=0, atol=1e-12)


def test_the_default_threshold_is_the_least_reach_of_half_the_updates():
    x = updates(9, 5)
    x[:4] += 100.0
    named = Huber(huber_threshold(x))(x, 4)
    np.testing.assert_allclose(Huber()(x, 4), named, rtol=0, atol=1e-12)
    assert huber_threshold(x) < 10


def test_above_all_distances_it_is_the_mean_and_far_below_them_the_geometric_median():
    x = updates(8, 6)
    np.testing.assert_allclose(Huber(1e300)(x, 3), Mean()(x, 3), rtol=0, atol=1e-14)
    np.testing.assert_allclose(Huber(1e-300)(x, 3), GeometricMedian()(x, 3), rtol=0, atol=1e-8)


def test_on_a_line_the_middle_of_the_minimisers_is_taken():
    x = np.array([[0.0], [1.0], [10.0], [13.0]])
    # With T = 1 the pulls cancel from 2 to 9.
    np.testing.assert_allclose(Huber(1.0)(x, 1), [5.5], atol=1e-12)
    slanted = x @ np.array([[3.0, 4.0, 12.0]]) + 7.0
    np.testing.assert_allclose(Huber(13.0)(slanted, 1), 5.5 * np.array([3.0, 4, 12]) + 7, rtol=1e-9)


def test_on_a_line_a_single_minimiser_is_found_between_the_bends():
    # At z = 5/6 the three near updates pull by -5/6, -1/3 and 1/6, the far one by 1.
    x = np.array([[0.0], [0.5], [1.0], [90.0]])
    np.testing.assert_allclose(Huber(1.0)(x, 1), [5 / 6], atol=1e-12)


@pytest.mark.parametrize("magnitude", [1e4, 1e8, 1e15, 1e30])
@pytest.mark.parametrize("far", [1, 4])
def test_the_pulls_cancel_there_beside_workers_far_away(magnitude, far):
    x = updates(9, 40)
    x[:far] *= magnitude
    threshold = huber_threshold(x)
    pull = huber_pull(x, Huber()(x, 4), threshold) / threshold
    assert np.linalg.norm(pull) < 1e-5


def test_a_majority_at_one_point_is_returned_exactly():
    x = np.array([[1.5, -2.0]] * 4 + [[1e9, 3.0], [7.0, -1e9], [0.0, 0.0]])
    assert Huber()(x, 3).tolist() == [1.5, -2.0]


@pytest.mark.parametrize("threshold", [0, -1.0, float("nan"), float("inf"), "0.1", True])
def test_bad_thresholds_are_refused(threshold):
    with pytest.raises((ValueError, TypeError), match="threshold"):
        Huber(threshold=threshold)
