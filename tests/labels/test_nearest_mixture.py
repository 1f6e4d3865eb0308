"""The nearest mixture of points, by Wolfe's algorithm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wola.labels.nearest_mixture import nearest_mixture


def gap(points, weights):
    """How much lower the square could be at most, by convexity: 0 at the minimum and only there."""
    place = weights @ points
    return 2 * float(place @ place - (points @ place).min())


@settings(deadline=None, max_examples=200)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 7), st.integers(1, 5)),
        elements=st.integers(-3, 3).map(float),
    )
)
def test_no_mixture_is_nearer_also_where_points_coincide_or_lie_in_a_plane(points):
    weights = nearest_mixture(points @ points.T)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-9)
    assert gap(points, weights) <= 1e-9 * max(1.0, float((points**2).sum(1).max()))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("count", "d"), [(10, 4), (10, 50), (100, 30)])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_no_mixture_is_nearer_among_many_points_of_any_scale(seed, count, d, scale):
    rng = np.random.default_rng(seed)
    points = scale * (rng.standard_normal((count, d)) * rng.exponential(1, (count, 1)) + 0.3)
    weights = nearest_mixture(points @ points.T)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)
    assert gap(points, weights) <= 1e-9 * float((points**2).sum(1).max())


def test_a_place_inside_is_found():
    points = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    np.testing.assert_allclose(nearest_mixture(points @ points.T), 1 / 3, atol=1e-9)
