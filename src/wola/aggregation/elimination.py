"""Comparative gradient elimination."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from torch import Generator

from wola.aggregation.rule import GramRule, one_hot
from wola.aggregation.source import Updates
from wola.aggregation.space import Floats, Space


@dataclass(frozen=True)
class ComparativeGradientElimination(GramRule):
    """The mean of the n - f updates with the smallest Euclidean norms.

    Ties go to the lowest indices; accepts f < n/2. Reference: N. Gupta, S. Liu and N. Vaidya,
    Byzantine fault-tolerant distributed machine learning using stochastic gradient descent (SGD)
    and norm-based comparative gradient elimination (CGE), DSN-W 2021.

    >>> import torch
    >>> ComparativeGradientElimination()(torch.tensor([[1.0], [-2.0], [70.0]]), f=1)
    tensor([-0.5000])
    """

    needs_products: ClassVar[bool] = False

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the n - f smallest norms."""
        return one_hot(space.n, np.argsort(space.norms, kind="stable")[: space.n - f])


def comparative_gradient_elimination(
    updates: Updates, f: int, generator: Generator | None = None
) -> Any:
    """The mean of the n - f smallest updates, (d,): see `ComparativeGradientElimination`.

    >>> import torch
    >>> comparative_gradient_elimination(torch.tensor([[1.0], [3.0], [-70.0]]), f=1)
    tensor([2.])
    """
    return ComparativeGradientElimination()(updates, f, generator)
