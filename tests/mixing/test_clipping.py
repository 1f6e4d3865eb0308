"""Clipping."""

import numpy as np
import pytest
import torch

from tests.rules import updates
from wola.mixing import Clipping


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


def test_short_updates_keep_their_norms_beside_a_worker_far_away():
    x = updates(7, 9)
    x[0] *= 1e12
    bound = 2 * np.linalg.norm(x[1:], axis=1).max()
    np.testing.assert_allclose(Clipping(max_norm=bound)(x, 2)[1:], x[1:], rtol=1e-9)


@pytest.mark.parametrize("max_norm", [0, -1.0, float("nan"), float("inf"), "1"])
def test_a_bad_bound_is_refused(max_norm):
    with pytest.raises((ValueError, TypeError), match="max_norm"):
        Clipping(max_norm=max_norm)
