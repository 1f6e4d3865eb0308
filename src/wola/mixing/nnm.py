"""Nearest-neighbour mixing."""

from dataclasses import dataclass

from torch import Generator

from wola.aggregation.products import Floats
from wola.aggregation.selection import smallest
from wola.aggregation.space import Space
from wola.mixing.mixing import Mixing


@dataclass(frozen=True)
class NNM(Mixing):
    """Replace each update by the mean of the n - f updates nearest to it, itself included.

    Updates tied at the edge share the weight that the nearer ones leave: each of these counts 1/(n
    - f). An update is at distance 0 of itself; where more than n - f lie there, it shares with
    them.

    Cost: one pass over the updates for their inner products, O(n^2 d).

    Reference: Y. Allouah, S. Farhadkhani, R. Guerraoui, N. Gupta, R. Pinot and J. Stephan, Fixing
    by mixing: a recipe for optimal Byzantine ML under heterogeneity, AISTATS 2023.

    >>> import torch
    >>> NNM()(torch.tensor([[0.0], [1.0], [2.0], [60.0]]), f=1).flatten()
    tensor([ 1.,  1.,  1., 21.])
    """

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """Row i holds 1/(n-f) at the n - f updates nearest to update i; ties at the edge share."""
        return smallest(space.squared_distances, space.n - f, space.distance_errors)
