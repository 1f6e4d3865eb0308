"""Clipping of norms to a fixed length."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator

from wola.aggregation.products import Floats
from wola.aggregation.space import Space
from wola.ground.checks import check_number
from wola.mixing.mixing import Mixing


def scaled_to(norms: Floats, length: float) -> Floats:
    """The diagonal matrix that shortens what is longer than `length` to it, (n, n)."""
    return np.diag(length / np.maximum(norms, length)) if length > 0 else np.diag(norms == 0) * 1.0


@dataclass(frozen=True)
class Clipping(Mixing):
    """Shorten every update longer than `max_norm` to that length: x_i min(1, max_norm/||x_i||).

    Every update is looked at alone, so there are no ties.

    Defaults: `max_norm`: ours.

    Cost: one pass over the updates for their norms.

    Reference: none, a plain remedy.

    >>> import torch
    >>> Clipping(max_norm=1.0)(torch.tensor([[3.0, 4.0], [0.5, 0.0]]), f=0)
    tensor([[0.6000, 0.8000],
            [0.5000, 0.0000]])
    """

    max_norm: float = 1.0
    needs_products: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("max_norm", self.max_norm, above=0)

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """A diagonal of min(1, max_norm / ||x_i||)."""
        return scaled_to(space.norms, space.in_units(self.max_norm))
