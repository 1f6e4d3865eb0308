"""The mean."""

import numpy as np
import torch

from tests.rules import updates
from wola.aggregation import Mean


def test_one_liar_moves_the_mean_anywhere():
    x = updates(5, 3)
    x[0] = 1e9
    assert (Mean()(x, 1) > 1e8).all()


def test_the_mean_of_many_float32_updates_is_added_up_in_float64():
    x = np.full((1001, 2), 0.1, dtype=np.float32)
    x[0] = 1e5
    expected = x.astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(Mean()(x, 0), expected, rtol=1e-7)


def test_every_worker_has_the_same_weight():
    assert Mean().weights(torch.rand(4, 2, generator=torch.Generator()), 1).tolist() == [0.25] * 4
