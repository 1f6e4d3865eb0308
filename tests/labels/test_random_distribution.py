"""Reports drawn at random."""

import numpy as np
import pytest
import torch

from tests.labels.dishonest import distributions
from wola.labels import RandomDistribution


def test_reports_are_drawn_evenly_from_the_simplex():
    generator = torch.Generator().manual_seed(1)
    lies = RandomDistribution()(distributions(5, 3, 0), 4000, generator=generator).numpy()
    # Dir(1, 1, 1): each part has the mean 1/3 and the variance 2/36.
    np.testing.assert_allclose(lies.mean(0), 1 / 3, atol=0.02)
    np.testing.assert_allclose(lies.var(0), 1 / 18, atol=0.005)


def test_a_missing_generator_is_named():
    with pytest.raises(ValueError, match="draws distributions and generator is None; allowed"):
        RandomDistribution()(distributions(5, 4, 0), 1)
