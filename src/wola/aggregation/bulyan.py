"""Bulyan: repeated Krum, then a mean around the median of what it chose."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator

from wola.aggregation.columns import mean_around_median
from wola.aggregation.krum import krum_scores
from wola.aggregation.rule import Rule, Solution
from wola.aggregation.space import Floats, Space


@dataclass(frozen=True)
class Bulyan(Rule):
    """Krum chooses n - 2f updates one by one; then per coordinate the n - 4f nearest the median.

    Each choice scores the r updates that remain by their r - f - 2 nearest others (at least
    one), takes the best, ties to the lowest index, and removes it. Needs n >= 4f + 3. It has no
    weights over workers. Reference: E. M. El Mhamdi, R. Guerraoui and S. Rouault, The hidden
    vulnerability of distributed learning in Byzantium, ICML 2018.

    >>> import torch
    >>> Bulyan()(torch.tensor([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [99.0]]), f=1)
    tensor([2.])
    """

    needs_products: ClassVar[bool] = True

    def max_byzantine(self, n: int) -> int:
        """(n - 3) / 4; with f = 0 any n will do."""
        return max(0, (n - 3) // 4)

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """The chosen updates, and the mean around their median."""
        chosen = space.mix(np.eye(space.n)[_choices(space.squared_distances, f)])
        keep = space.n - 4 * f
        return Solution(chosen, columns=lambda block: mean_around_median(block, keep)[0])


def _choices(squared_distances: Floats, f: int) -> list[int]:
    remaining = list(range(len(squared_distances)))
    chosen = []
    for _ in range(len(squared_distances) - 2 * f):
        inside = squared_distances[np.ix_(remaining, remaining)]
        scores = krum_scores(inside, max(1, len(remaining) - f - 2))
        chosen.append(remaining.pop(int(scores.argmin())))
    return chosen
