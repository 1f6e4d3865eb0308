"""The least mixture of sets: against a generic solver, and where much is tied or straight."""

from itertools import combinations

import numpy as np
import pytest

from tests.soft_set_hull_reference import least_mixture
from wola.aggregation.hull_minimum import hull_minimum, least_shares


def made(n, f, d, seed):
    rng = np.random.default_rng([n, f, d, seed])
    u = rng.normal(0.3, 1.0, size=(n, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    sets = np.array(list(combinations(range(n), f)), np.int32).reshape(-1, f)
    inside = np.array([[k not in out for k in range(n)] for out in sets.tolist()]) / (n - f)
    return u, sets, inside, rng.uniform(0, 0.3, size=len(sets))


@pytest.mark.parametrize(("n", "f", "d"), [(3, 1, 5), (5, 2, 12), (6, 2, 3), (7, 3, 30)])
def test_the_vector_is_that_of_a_generic_solver(n, f, d):
    for seed in range(4):
        u, sets, inside, costs = made(n, f, d, seed)
        expected = least_mixture(inside @ u, np.zeros_like(inside), costs) @ inside @ u
        np.testing.assert_allclose(hull_minimum(u @ u.T, sets, costs) @ u, expected, atol=3e-6)


@pytest.mark.parametrize(("n", "f", "d"), [(9, 4, 40), (11, 5, 2), (12, 4, 12)])
@pytest.mark.parametrize("costs_of", ["drawn", "equal", "few"])
def test_no_set_lies_below_the_mixture_that_is_found(n, f, d, costs_of):
    u, sets, inside, costs = made(n, f, d, 9)
    costs = {"drawn": costs, "equal": np.zeros(len(sets)), "few": costs.round(1)}[costs_of]
    products = u @ u.T + 1e-4 * np.eye(n)
    weights = hull_minimum(products, sets, costs)
    assert weights.sum() == pytest.approx(1)
    values = inside @ products @ weights + costs
    tight = values <= values.min() + 1e-10
    # With multipliers of the sets that are tight alone: complementary slackness.
    shares = least_shares(
        inside[tight] @ products @ inside[tight].T,
        costs[tight],
        np.full(tight.sum(), 1 / tight.sum()),
    )
    np.testing.assert_allclose(shares @ inside[tight], weights, atol=1e-8)


def test_one_set_is_the_mean_of_all():
    products = np.diag([1.0, 4.0, 9.0])
    found = hull_minimum(products, np.empty((1, 0), np.int32), np.zeros(1))
    np.testing.assert_allclose(found, np.full(3, 1 / 3))


def test_a_price_that_is_high_enough_keeps_the_cheapest_set_alone():
    u, sets, inside, costs = made(7, 3, 20, 1)
    found = hull_minimum(u @ u.T, sets, 1000 * costs)
    np.testing.assert_allclose(found, inside[costs.argmin()], atol=1e-12)


def test_where_all_vectors_are_zero_the_cheapest_set_is_taken():
    _, sets, inside, costs = made(5, 2, 3, 0)
    found = hull_minimum(np.zeros((5, 5)), sets, costs)
    np.testing.assert_allclose(found, inside[costs.argmin()])


def test_a_direction_that_is_nearly_straight_is_followed_to_its_end():
    # The third is nearly the mean of the others, and cheaper: taken for straight, it is let go of.
    quadratic = np.array(
        [
            [0.603015115972, 0.536835635300, 0.569919375636],
            [0.536835635300, 0.735350077314, 0.636094856307],
            [0.569919375636, 0.636094856307, 0.603015115972],
        ]
    )
    costs = np.array([0.0, 0.02191978131979, 0.0])
    shares = least_shares(quadratic, costs, np.array([0.83278913659, 0.16721086341, 0.0]))
    np.testing.assert_allclose(shares, [0.5, 0.0, 0.5], atol=1e-9)


def test_shares_of_dependent_vectors_come_to_rest_where_it_is_cheapest():
    # Three equal vectors: the objective is straight, and falls towards the last.
    shares = least_shares(np.ones((3, 3)), np.array([0.3, 0.2, 0.1]), np.array([0.5, 0.5, 0.0]))
    np.testing.assert_allclose(shares, [0.0, 0.0, 1.0], atol=1e-12)
