"""Minimum diameter averaging."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.rule import one_hot
from wola.aggregation.space import Floats, Space
from wola.aggregation.subsets import SubsetRule, subsets


@dataclass(frozen=True)
class MinimumDiameterAveraging(SubsetRule):
    """The mean of the n - f updates that lie closest together: the subset of least diameter.

    Searches all subsets and refuses above 1,000,000 of them; ties go to the lexicographically
    first. Accepts f < n/2. Reference: E. M. El Mhamdi, R. Guerraoui, A. Guirguis, L. N. Hoang
    and S. Rouault, Genuinely distributed Byzantine machine learning, PODC 2020.

    >>> import torch
    >>> MinimumDiameterAveraging()(torch.tensor([[0.0], [9.0], [1.0], [2.0]]), f=1)
    tensor([1.])
    """

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the subset of least diameter."""
        distances = space.squared_distances
        best, chosen = np.inf, np.arange(space.n)
        for batch in subsets(space.n, space.n - f):
            inside = distances[batch[:, :, None], batch[:, None, :]]
            diameters = inside.max(axis=(1, 2))
            k = int(diameters.argmin())
            if diameters[k] < best:
                best, chosen = float(diameters[k]), batch[k]
        return one_hot(space.n, chosen)
