"""The mean of directions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference_newer_rules import normalised_mean
from tests.rules import updates
from wola.aggregation import NormalisedMean
from wola.mixing import NNM


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e-12, 1e12, 1e100, 1e300])
def test_the_size_of_the_updates_makes_no_difference(scale):
    x = updates(7, 5)
    np.testing.assert_allclose(NormalisedMean()(scale * x, 3), normalised_mean(x), atol=1e-13)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.integers(1, 8), st.integers(0, 10**6), st.floats(1e-6, 1e30))
def test_a_worker_moves_it_by_no_more_than_its_share(d, seed, far):
    x = updates(9, d, seed=seed)
    lies = x.copy()
    lies[4] = far * updates(1, d, seed=seed + 1)[0]
    moved = np.linalg.norm(NormalisedMean()(lies, 1) - NormalisedMean()(x, 1))
    assert moved <= 2 / 9 + 1e-12
    assert np.linalg.norm(NormalisedMean()(lies, 1)) <= 1 + 1e-12


def test_an_update_of_zeros_counts_as_zero():
    x = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]])
    np.testing.assert_allclose(NormalisedMean()(x, 1), [0.2, -1 / 15])
    np.testing.assert_allclose(NormalisedMean().weights(x, 1), [1 / 15, 0, 1 / 6])
    assert not NormalisedMean()(np.zeros((3, 2)), 1).any()


def test_an_update_too_short_to_have_a_direction_counts_as_zero():
    assert not NormalisedMean()(np.full((3, 2), 1e-310), 1).any()


def test_a_mixture_that_cancels_has_no_direction():
    x = np.array([[0.1, 0.7], [-0.1, -0.7], [0.1, 0.7], [-0.1, -0.7], [40.0, 0.0]])
    mixtures = NNM()(x, 1)
    assert np.abs(mixtures[:4]).max() < 1e-15
    result = (NNM() | NormalisedMean())(x, 1)
    np.testing.assert_allclose(result, normalised_mean(mixtures.round(12)), atol=1e-12)
