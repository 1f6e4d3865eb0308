import numpy as np
import torch

from wola.data.moments import BLOCK_VALUES, channel_moments

RNG = np.random.default_rng(0)


def test_moments_over_many_blocks_equal_those_of_the_whole():
    x = RNG.normal(1000.0, 1.0, (3 * BLOCK_VALUES // 8 + 5, 2, 4))
    mean, std = channel_moments(torch.from_numpy(x))
    np.testing.assert_allclose(mean, x.mean(axis=(0, 2)), rtol=1e-12)
    np.testing.assert_allclose(std, x.std(axis=(0, 2)), rtol=1e-9)
