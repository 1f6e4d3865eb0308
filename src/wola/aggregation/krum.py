"""Krum, and the scores by nearest neighbours that its family shares."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.rule import GramRule, one_hot
from wola.aggregation.space import Floats, Space
from wola.ground.checks import check_number


def krum_scores(squared_distances: Floats, neighbours: int, power: float = 2.0) -> Floats:
    """For each point the sum of distance^power to its nearest `neighbours` others, (n,)."""
    distances = squared_distances ** (power / 2)
    np.fill_diagonal(distances, np.inf)
    scores: Floats = np.sort(distances, axis=1)[:, :neighbours].sum(axis=1)
    return scores


@dataclass(frozen=True)
class NeighbourRule(GramRule):
    """A rule that scores each update by distance^power to its n - f - 2 nearest others."""

    power: float = 2.0

    def __post_init__(self) -> None:
        check_number("power", self.power, above=0)

    def max_byzantine(self, n: int) -> int:
        """n - f - 2 >= 1 neighbours, and f < n/2; a single update needs no neighbour."""
        return 0 if n == 1 else min((n - 1) // 2, n - 3)


@dataclass(frozen=True)
class Krum(NeighbourRule):
    """The update whose n - f - 2 nearest others are nearest, by the sum of distance^power.

    `power` 2 is the original; 1 is the WoLA paper's. Ties go to the lowest index. Proven for
    2f + 2 < n; accepted while f < n/2 and n - f - 2 >= 1. Reference: P. Blanchard, E. M. El
    Mhamdi, R. Guerraoui and J. Stainer, Machine learning with adversaries: Byzantine tolerant
    gradient descent, NeurIPS 2017.

    >>> import torch
    >>> Krum()(torch.tensor([[0.0], [1.0], [1.5], [9.0]]), f=1)
    tensor([1.])
    """

    def weigh(self, space: Space, f: int) -> Floats:
        """All weight on the lowest score."""
        scores = krum_scores(space.squared_distances, space.n - f - 2, self.power)
        return one_hot(space.n, np.array([scores.argmin()]))
