"""Multi-Krum."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.krum import NeighbourRule, krum_scores
from wola.aggregation.rule import one_hot
from wola.aggregation.space import Floats, Space


@dataclass(frozen=True)
class MultiKrum(NeighbourRule):
    """The mean of the n - f updates with the lowest Krum scores.

    `power` 2 is the original; 1 is the WoLA paper's. Ties go to the lowest indices. Accepted
    while f < n/2 and n - f - 2 >= 1. Reference: P. Blanchard, E. M. El Mhamdi, R. Guerraoui and
    J. Stainer, Machine learning with adversaries: Byzantine tolerant gradient descent, NeurIPS
    2017.

    >>> import torch
    >>> MultiKrum()(torch.tensor([[0.0], [1.0], [2.0], [9.0]]), f=1)
    tensor([1.])
    """

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the n - f lowest scores."""
        scores = krum_scores(space.squared_distances, space.n - f - 2, self.power)
        return one_hot(space.n, np.argsort(scores, kind="stable")[: space.n - f])
