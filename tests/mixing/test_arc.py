"""Adaptive robust clipping."""

import numpy as np
import pytest
import torch

from tests.rules import updates
from wola.mixing import ARC


def test_zero_updates_stay_zero():
    assert not ARC()(torch.zeros(3, 4), 1).any()


@pytest.mark.parametrize(("n", "f", "clipped"), [(4, 1, 1), (17, 2, 3), (17, 8, 8), (9, 0, 0)])
def test_it_shortens_the_k_longest_to_the_next(n, f, clipped):
    x = np.diag(np.arange(1.0, n + 1))
    norms = np.linalg.norm(ARC()(x, f), axis=1)
    expected = np.minimum(np.arange(1.0, n + 1), n - clipped)
    np.testing.assert_allclose(norms, expected)


def test_it_stands_when_the_next_longest_is_zero():
    x = np.zeros((5, 3))
    x[:2] = 7.0
    assert not ARC()(x, 2).any()


def test_short_updates_keep_their_norms_beside_a_worker_far_away():
    x = updates(7, 9)
    x[0] *= 1e12
    np.testing.assert_allclose(ARC()(x, 2)[1:4], ARC()(x[1:], 1)[:3], rtol=0.5)
