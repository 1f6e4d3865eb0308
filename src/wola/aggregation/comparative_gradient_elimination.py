"""Comparative gradient elimination."""

from dataclasses import dataclass
from typing import ClassVar

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.selection import smallest
from wola.aggregation.space import Space


@dataclass(frozen=True)
class ComparativeGradientElimination(GramRule):
    """The mean of the n - f updates with the smallest Euclidean norms.

    Norms tied at the edge share the weight that the shorter ones leave; accepts f < n/2.

    Cost: one pass over the updates for their norms, and one for the mean.

    Reference: N. Gupta, S. Liu and N. Vaidya, Byzantine fault-tolerant distributed machine learning
    using stochastic gradient descent (SGD) and norm-based comparative gradient elimination (CGE),
    DSN-W 2021.

    >>> import torch
    >>> ComparativeGradientElimination()(torch.tensor([[1.0], [-2.0], [70.0]]), f=1)
    tensor([-0.5000])
    """

    needs_products: ClassVar[bool] = False

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the n - f smallest norms; ties at the edge share."""
        return smallest(space.energies, space.n - f, space.energy_errors)
