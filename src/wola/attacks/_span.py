"""The span of the honest updates, by coefficients: directions, lengths and points in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cos, radians, sin, sqrt

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wola.aggregation.products import Floats
from wola.attacks._judge import inner, squared_length
from wola.attacks._lexicographic import lexicographically_first
from wola.attacks._moments import mean_and_std
from wola.attacks._scale import ROUNDING

#: Columns in which the order of two updates is usually decided.
FIRST_COLUMNS = 4096

#: Digits up to which lengths are compared, against the spread.
DIGITS = 9


def spanning_rows(honest: Tensor) -> Tensor:
    """The honest updates (h, d), and mean + std below them, (h+1, d).

    With mean + std in place of std, coefficients that add up to one leave what the updates have in
    common, however large, as it is.
    """
    return torch.cat([honest, mean_and_std(honest, 1.0, 1.0)[None]])


def own_order(honest: Tensor) -> NDArray[np.int64]:
    """The honest updates (h, d), sorted by the first column in which they differ: their positions.

    What is drawn for them in this order does not depend on that of the workers.

    >>> own_order(torch.tensor([[1.0, 5.0], [1.0, 4.0], [0.0, 9.0]]))
    array([2, 1, 0])
    """
    left, order = np.arange(len(honest)), []
    while len(left):
        order.append(lexicographically_first(torch.split(honest, FIRST_COLUMNS, dim=1), left))
        left = left[left != order[-1]]
    return np.array(order)


@dataclass(frozen=True)
class Span:
    """Vectors by their coefficients (h+1,) over h honest updates and mean + std.

    `products` (h+2, h+2) are those of the centred rows and of the centre, see `centred_products`;
    `order` (h,) is the order in which something is drawn for the honest updates.
    """

    products: Floats
    order: NDArray[np.int64]

    @property
    def h(self) -> int:
        """How many honest updates there are."""
        return len(self.products) - 2

    @cached_property
    def mean(self) -> Floats:
        """The mean of the honest updates."""
        return np.append(np.full(self.h, 1.0 / self.h), 0.0)

    @cached_property
    def std(self) -> Floats:
        """Their standard deviation in each coordinate, as long as they are far from the mean."""
        return np.append(np.full(self.h, -1.0 / self.h), 1.0)

    @cached_property
    def spread(self) -> float:
        """How far an honest update is from the mean, root mean square."""
        return self.length(self.std)

    @cached_property
    def typical_length(self) -> float:
        """How long an honest update is, root mean square."""
        return sqrt(self.spread**2 + self.length(self.mean) ** 2)

    def length(self, vector: Floats) -> float:
        """The Euclidean length of a vector."""
        return sqrt(squared_length(self.products, vector))

    def deviations(self) -> list[Floats]:
        """The honest updates less the mean, the longest first, up to rounding."""
        apart = [row - self.mean for row in np.eye(self.h + 1)[self.order]]
        unit = self.spread or 1.0
        return sorted(apart, key=lambda row: -round(self.length(row) / unit, DIGITS))

    def scaled(self, vector: Floats, length: float) -> Floats | None:
        """A vector at another length; None if it has no direction but that of rounding."""
        own = self.length(vector)
        if not own > ROUNDING * self.typical_length:
            return None
        longer: Floats = vector * (length / own)
        return longer

    def against_mean(self) -> Floats:
        """The mean turned round, as long as the spread; rounding or none: as long as it is."""
        turned = self.scaled(-self.mean, self.spread or self.length(self.mean))
        return -self.mean if turned is None else turned

    def tilted(self, towards: Floats, angle: float) -> Floats | None:
        """As long as an honest update, at an angle in degrees to the mean, towards a vector.

        None where the mean or the part of the vector orthogonal to it is nothing but rounding.
        """
        along = self.scaled(self.mean, 1.0)
        if along is None or self.scaled(towards, 1.0) is None:
            return None
        across = self.scaled(towards - inner(self.products, towards, along) * along, 1.0)
        if across is None:
            return None
        turn = radians(angle)
        turned: Floats = self.typical_length * (cos(turn) * along + sin(turn) * across)
        return turned

    def drawn(self, length: float, draw: np.random.Generator) -> Floats | None:
        """A random vector of the span at a length; None where there is no direction.

        A random mixture of deviations, the standard deviation and the mean have random shares.
        """
        shares, weights = draw.standard_normal(3), np.zeros(self.h + 1)
        weights[self.order] = draw.standard_normal(self.h)
        deviations = weights - weights.sum() * self.mean
        total = np.zeros(self.h + 1)
        for share, vector in zip(shares, (deviations, self.std, self.mean), strict=True):
            direction = self.scaled(vector, self.typical_length)
            if direction is not None:
                total += share * direction
        return self.scaled(total, length)
