"""Bulyan: repeated Krum, then a mean around the median of what it chose."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator

from wola.aggregation.columns import mean_around_median
from wola.aggregation.krum import krum_scores
from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule, Solution
from wola.aggregation.selection import smallest
from wola.aggregation.space import Space


@dataclass(frozen=True)
class Bulyan(Rule):
    """Krum chooses n - 2f updates one by one; then per coordinate the n - 4f nearest the median.

    Each choice scores the r updates that remain by their r - f - 2 nearest others (at least one)
    and takes the best out. Tied ones are taken together; where more of them tie than places are
    left, each of these places holds their mean, rounded to the dtype. Then as in `MeaMed`. Needs
    n >= 4f + 3. It has no weights over workers. Squared distances, as its authors take.

    Cost: one pass over the updates for their inner products, O(n^2 d), n - 2f times the scores of
    Krum, and a network that sorts each column.

    Reference: E. M. El Mhamdi, R. Guerraoui and S. Rouault, The hidden vulnerability of distributed
    learning in Byzantium, ICML 2018.

    >>> import torch
    >>> Bulyan()(torch.tensor([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [99.0]]), f=1)
    tensor([2.5000])
    """

    needs_products: ClassVar[bool] = True

    def max_byzantine(self, n: int) -> int:
        """(n - 3) / 4; with f = 0 any n will do."""
        return max(0, (n - 3) // 4)

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """The chosen updates, and the mean around their median."""
        chosen = space.mix(_choices(space.squared_distances, space.distance_errors, f))
        keep = space.n - 4 * f
        return Solution(chosen, columns=lambda block: mean_around_median(block, keep)[0])


def _choices(squared_distances: Floats, errors: Floats, f: int) -> Floats:
    """The n - 2f places as rows of weights over the updates, (n - 2f, n)."""
    n = len(squared_distances)
    places: list[Floats] = []
    remaining = np.arange(n)
    while len(places) < n - 2 * f:
        inside = np.ix_(remaining, remaining)
        neighbours = max(1, len(remaining) - f - 2)
        scores, widths = krum_scores(squared_distances[inside], errors[inside], neighbours)
        best = np.flatnonzero(smallest(scores, 1, widths))
        left = n - 2 * f - len(places)
        if len(best) > left:
            mean = np.zeros(n)
            mean[remaining[best]] = 1.0 / len(best)
            places += [mean] * left
        else:
            places += list(np.eye(n)[remaining[best]])
        remaining = np.delete(remaining, best)
    return np.array(places)
