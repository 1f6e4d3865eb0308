"""Clipping and adaptive robust clipping."""

import numpy as np
import pytest
import torch

from tests.rules import updates
from wola.mixing import ARC, Clipping


@pytest.mark.parametrize("max_norm", [1e-3, 1.0, 1e6])
def test_no_mixture_is_longer_than_the_bound_and_directions_stay(max_norm):
    x = updates(7, 9)
    clipped = Clipping(max_norm)(x, 2)
    norms = np.linalg.norm(clipped, axis=1)
    assert (norms <= max_norm * (1 + 1e-12)).all()
    cosines = (clipped * x).sum(axis=1) / norms / np.linalg.norm(x, axis=1)
    np.testing.assert_allclose(cosines, 1)


def test_short_updates_are_not_lengthened():
    x = updates(7, 9)
    np.testing.assert_array_equal(Clipping(max_norm=1e6)(x, 2), x)


def test_zero_updates_stay_zero():
    assert not Clipping()(torch.zeros(3, 4), 1).any()
    assert not ARC()(torch.zeros(3, 4), 1).any()


@pytest.mark.parametrize(("n", "f", "clipped"), [(4, 1, 1), (17, 2, 3), (17, 8, 8), (9, 0, 0)])
def test_arc_shortens_the_k_longest_to_the_next(n, f, clipped):
    x = np.diag(np.arange(1.0, n + 1))
    norms = np.linalg.norm(ARC()(x, f), axis=1)
    expected = np.minimum(np.arange(1.0, n + 1), n - clipped)
    np.testing.assert_allclose(norms, expected)


def test_arc_stands_when_the_next_longest_is_zero():
    x = np.zeros((5, 3))
    x[:2] = 7.0
    assert not ARC()(x, 2).any()


def test_short_updates_keep_their_norms_beside_a_worker_far_away():
    x = updates(7, 9)
    x[0] *= 1e12
    np.testing.assert_allclose(ARC()(x, 2)[1:4], ARC()(x[1:], 1)[:3], rtol=0.5)
    bound = 2 * np.linalg.norm(x[1:], axis=1).max()
    np.testing.assert_allclose(Clipping(max_norm=bound)(x, 2)[1:], x[1:], rtol=1e-9)


@pytest.mark.parametrize("max_norm", [0, -1.0, float("nan"), float("inf"), "1"])
def test_a_bad_bound_is_refused(max_norm):
    with pytest.raises((ValueError, TypeError), match="max_norm"):
        Clipping(max_norm=max_norm)
