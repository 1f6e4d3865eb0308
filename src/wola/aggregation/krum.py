"""Krum, and the scores by nearest neighbours that its family shares."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.selection import smallest, sums_of_smallest
from wola.aggregation.space import Space
from wola.ground.checks import check_number


def krum_scores(
    squared_distances: Floats, errors: Floats, neighbours: int, power: float = 2.0
) -> tuple[Floats, Floats]:
    """For each point the sum of distance^power to its nearest others, and its error, (n,) each.

    `neighbours` others are counted, or all where there are fewer.
    """
    n = len(squared_distances)
    if n == 1:
        return np.zeros(1), np.zeros(1)
    others = squared_distances.copy()
    np.fill_diagonal(others, np.inf)
    return sums_of_smallest(others, errors, min(neighbours, n - 1), power)


@dataclass(frozen=True)
class NeighbourRule(GramRule):
    """A rule that scores each update by distance^power to its n - f - 2 nearest others."""

    power: float = 2.0

    def __post_init__(self) -> None:
        check_number("power", self.power, above=0)

    def scores(self, space: Space, f: int) -> tuple[Floats, Floats]:
        """The scores of the points and how far rounding may have moved them, (n,) each."""
        neighbours = max(1, space.n - f - 2)
        return krum_scores(space.squared_distances, space.distance_errors, neighbours, self.power)


@dataclass(frozen=True)
class Krum(NeighbourRule):
    """The update whose n - f - 2 nearest others are nearest, by the sum of distance^power.

    At least one other is counted, as in ByzFL and Flower, so that n = 3, f = 1 works. Of tied
    updates the mean is taken. Proven for 2f + 2 < n; accepted while f < n/2.

    Defaults: `power`: its authors. The WoLA paper's public code takes 1 (its text is silent).

    Cost: one pass over the updates for their inner products, O(n^2 d).

    Reference: P. Blanchard, E. M. El Mhamdi, R. Guerraoui and J. Stainer, Machine learning with
    adversaries: Byzantine tolerant gradient descent, NeurIPS 2017.

    >>> import torch
    >>> Krum()(torch.tensor([[0.0], [1.0], [1.5], [9.0]]), f=1)
    tensor([1.2500])
    """

    def weigh(self, space: Space, f: int) -> Floats:
        """All weight on the lowest score, shared by those that have it."""
        scores, errors = self.scores(space, f)
        return smallest(scores, 1, errors)
