"""The non-finite filter."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator

from wola.aggregation.products import Floats
from wola.aggregation.space import Space
from wola.mixing.mixing import Mixing


@dataclass(frozen=True)
class FiniteOnly(Mixing):
    """Drop every update that holds a NaN or an infinity, or whose norm overflows its dtype.

    Each one dropped lowers n and f by one (f not below 0), and never touches another row. It
    runs before any rule, mixing or chain, whether it is written or not; written alone, it gives
    the updates that are left.

    >>> import torch
    >>> FiniteOnly()(torch.tensor([[1.0], [float("nan")], [3.0]]), f=1)
    tensor([[1.],
            [3.]])
    """

    needs_products: ClassVar[bool] = False

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """The identity: what was not finite is gone before a space is opened."""
        return np.eye(space.n)
