"""The filter that CAF and RAGE share."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from tests.reference import top_eigenpair
from tests.rules import updates
from wola.aggregation.source import Matrix
from wola.aggregation.space import Space
from wola.aggregation.spectral_filter import filtering, recentred, top_spread


def space_of(x):
    return Space(Matrix(torch.from_numpy(x)))


@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_the_spread_is_the_top_eigenvalue_of_the_weighted_covariance(shift):
    x = updates(8, 5) + shift
    weights = np.random.default_rng(1).dirichlet(np.ones(8))
    value, direction = top_eigenpair(x, weights)
    spread, scores = top_spread(space_of(x).centred_gram, weights)
    assert spread == pytest.approx(value, rel=1e-9)
    expected = value * ((x - weights @ x) @ direction) ** 2
    np.testing.assert_allclose(scores, expected, atol=1e-9 * expected.max())


def test_every_step_with_the_pace_of_the_weighted_takes_one_update_out():
    states = list(filtering(space_of(updates(9, 6)), "weighted"))
    out = [int((state.weights == 0).sum()) for state in states]
    assert states[0].mass == 9
    assert all(after > before for before, after in pairwise(out))
    assert all(state.weights.sum() == pytest.approx(1) for state in states)


def test_equal_updates_are_one_state():
    (state,) = filtering(space_of(np.tile(updates(1, 6), (5, 1))), "weighted")
    np.testing.assert_allclose(state.weights, 0.2)


def test_seen_from_the_weighted_mean_the_weighted_inner_products_cancel():
    x, weights = updates(6, 4), np.full(6, 1 / 6)
    centred = recentred(x @ x.T, weights)
    np.testing.assert_allclose(centred @ weights, 0, atol=1e-12)
    difference = x - x.mean(axis=0)
    np.testing.assert_allclose(centred, difference @ difference.T, atol=1e-12)
