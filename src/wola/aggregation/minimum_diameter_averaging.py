"""Minimum diameter averaging."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wola.aggregation.products import Floats
from wola.aggregation.selection import tie_classes
from wola.aggregation.space import Space
from wola.aggregation.subsets import SubsetRule, mean_of_best


@dataclass(frozen=True)
class MinimumDiameterAveraging(SubsetRule):
    """The mean of the n - f updates that lie closest together: the subset of least diameter.

    Searches all subsets and refuses above 1,000,000 of them. The two farthest of a subset decide
    alone, so ties are common: the result is the mean over all subsets of least diameter. Accepts
    f < n/2.

    Cost: one pass over the updates for their inner products, O(n^2 d), then all subsets of n - f
    workers.

    Reference: E. M. El Mhamdi, R. Guerraoui, A. Guirguis, L. N. Hoang and S. Rouault, Genuinely
    distributed Byzantine machine learning, PODC 2020.

    >>> import torch
    >>> MinimumDiameterAveraging()(torch.tensor([[0.0], [9.0], [1.0], [2.0]]), f=1)
    tensor([1.])
    """

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the subset of least diameter, averaged over tied subsets."""
        distances, errors = space.squared_distances, space.distance_errors
        classes = tie_classes(distances.ravel(), errors.ravel()).reshape(distances.shape)

        def diameters(batch: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
            return classes[batch[:, :, None], batch[:, None, :]].max(axis=(1, 2)), 0.0

        return mean_of_best(space.n, space.n - f, diameters)
