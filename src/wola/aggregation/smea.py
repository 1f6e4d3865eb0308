"""Smallest maximum eigenvalue averaging."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wola.aggregation.products import Floats
from wola.aggregation.space import Space
from wola.aggregation.subsets import SubsetRule, mean_of_best


@dataclass(frozen=True)
class SMEA(SubsetRule):
    """The mean of the n - f updates whose covariance has the smallest largest eigenvalue.

    Smallest maximum eigenvalue averaging. Searches all subsets and refuses above 200,000 of them;
    of tied subsets the mean is taken. Accepts f < n/2.

    Cost: one pass over the updates for their inner products, O(n^2 d), then an eigenvalue of O(n^3)
    for each subset of n - f workers.

    Reference: Y. Allouah, R. Guerraoui, N. Gupta, R. Pinot and J. Stephan, On the
    privacy-robustness-utility trilemma in distributed learning, ICML 2023.

    >>> import torch
    >>> SMEA()(torch.tensor([[0.0], [9.0], [1.0], [2.0]]), f=1)
    tensor([1.])
    """

    def most_subsets(self) -> int:
        """How many subsets are searched at most before the rule refuses."""
        return 200_000

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the subset whose covariance is smallest in its worst direction."""
        gram, reach = space.centred_gram, space.gram_errors

        def largest_eigenvalues(batch: NDArray[np.int64]) -> tuple[Floats, Floats]:
            inside = gram[batch[:, :, None], batch[:, None, :]]
            rows = inside.mean(axis=2, keepdims=True)
            centred = inside - rows - rows.transpose(0, 2, 1) + rows.mean(axis=1, keepdims=True)
            # A matrix that is off by at most sqrt(t_k t_l) has eigenvalues off by at most sum t_k.
            return np.linalg.eigvalsh(centred)[:, -1], reach[batch].sum(axis=1)

        return mean_of_best(space.n, space.n - f, largest_eigenvalues)
