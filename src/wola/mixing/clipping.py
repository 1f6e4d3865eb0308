"""Clipping of norms: to a fixed length, or to one that adapts to the updates."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator

from wola.aggregation.space import Floats, Space
from wola.ground.checks import check_number
from wola.mixing.mixing import Mixing


def _scaled_to(norms: Floats, length: float) -> Floats:
    return np.diag(length / np.maximum(norms, length)) if length > 0 else np.diag(norms == 0) * 1.0


@dataclass(frozen=True)
class Clipping(Mixing):
    """Shorten every update longer than `max_norm` to that length: x_i min(1, max_norm/||x_i||).

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
        return _scaled_to(space.norms, self.max_norm)


@dataclass(frozen=True)
class ARC(Mixing):
    """Adaptive robust clipping: clip the k longest updates to the length of the next longest.

    k = floor(2 (f/n) (n - f)). Reference: Y. Allouah, R. Guerraoui, N. Gupta, A. Jellouli, G.
    Rizk and J. Stephan, Adaptive gradient clipping for robust federated learning, ICLR 2025.

    >>> import torch
    >>> ARC()(torch.tensor([[1.0], [2.0], [3.0], [80.0]]), f=1).flatten()
    tensor([1., 2., 3., 3.])
    """

    needs_products: ClassVar[bool] = False

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """A diagonal that shortens the k longest updates."""
        k = 2 * f * (space.n - f) // space.n
        return _scaled_to(space.norms, float(np.sort(space.norms)[::-1][k]))
