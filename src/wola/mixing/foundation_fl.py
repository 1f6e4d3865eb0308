"""FoundationFL: copies of the update farthest from the extremes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Generator

from wola.aggregation.products import Floats, distances_to_extremes
from wola.aggregation.selection import smallest
from wola.aggregation.space import Space
from wola.mixing.mixing import Mixing


@dataclass(frozen=True)
class FoundationFL(Mixing):
    """Append floor(n/2) copies of the update that lies farthest from the extremes.

    With g_max and g_min the coordinate-wise extremes, the score of update i is min(||g_max - x_i||,
    ||g_min - x_i||); the highest is copied; where several tie, each copy is their mean.

    Cost: one more pass over the updates.

    Reference: M. Fang, S. Nabavirazavi, Z. Liu, W. Sun, S. Iyengar and H. Yang, Do we really need
    to design new Byzantine-robust aggregation rules?, NDSS 2025.

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
        for block in space.blocks(torch.float64):
            up, down = distances_to_extremes(block)
            to_largest += up
            to_smallest += down
        scores = np.minimum(to_largest, to_smallest)
        copied = smallest(-scores, 1, _errors(space, scores))
        return np.vstack([np.eye(space.n), np.tile(copied, (space.n // 2, 1))])


def _errors(space: Space, scores: Floats) -> Floats:
    # Sums of squares round relative to themselves. Mixtures are rounded as well, before they are
    # compared with the extremes, each coordinate relative to the largest that is mixed into it.
    errors = space.rounding * scores
    if space.coefficients is None:
        return errors
    rounded = np.abs(space.coefficients).sum(axis=1).max() * np.sqrt(space.source_energies.sum())
    slack = 4 * len(space.mixture) * np.finfo(np.float64).eps * rounded
    mixed: Floats = errors + slack * (2 * np.sqrt(scores) + slack)
    return mixed
