"""FoundationFL: copies of the update farthest from the extremes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator

from wola.aggregation.space import Floats, Space, distances_to_extremes
from wola.mixing.mixing import Mixing


@dataclass(frozen=True)
class FoundationFL(Mixing):
    """Append floor(n/2) copies of the update that lies farthest from the extremes.

    With g_max and g_min the coordinate-wise extremes, the score of update i is min(||g_max -
    x_i||, ||g_min - x_i||); the highest is copied, ties to the lowest index. Reference: M. Fang,
    S. Nabavirazavi, Z. Liu, W. Sun, S. Iyengar and H. Yang, Do we really need to design new
    Byzantine-robust aggregation rules?, NDSS 2025.

    >>> import torch
    >>> FoundationFL()(torch.tensor([[0.0], [5.0], [9.0]]), f=1).flatten()
    tensor([0., 5., 9., 5.])
    """

    needs_products: ClassVar[bool] = False

    def count(self, n: int, f: int) -> int:
        """n updates and floor(n/2) copies."""
        return n + n // 2

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """The identity, and floor(n/2) more rows that all choose one update."""
        to_largest = np.zeros(space.n)
        to_smallest = np.zeros(space.n)
        for block in space.blocks():
            largest, smallest = distances_to_extremes(block)
            to_largest += largest
            to_smallest += smallest
        chosen = int(np.minimum(to_largest, to_smallest).argmax())
        rows = np.concatenate([np.arange(space.n), np.full(space.n // 2, chosen)])
        matrix: Floats = np.eye(space.n)[rows]
        return matrix
