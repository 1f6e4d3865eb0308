"""Adaptive robust clipping."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator

from wola.aggregation.products import Floats
from wola.aggregation.space import Space
from wola.mixing.clipping import scaled_to
from wola.mixing.mixing import Mixing


@dataclass(frozen=True)
class ARC(Mixing):
    """Adaptive robust clipping: clip the k longest updates to the length of the next longest.

    k = floor(2 (f/n) (n - f)).

    Cost: one pass over the updates for their norms.

    Reference: Y. Allouah, R. Guerraoui, N. Gupta, A. Jellouli, G. Rizk and J. Stephan, Adaptive
    gradient clipping for robust federated learning, ICLR 2025.

    >>> import torch
    >>> ARC()(torch.tensor([[1.0], [2.0], [3.0], [80.0]]), f=1).flatten()
    tensor([1., 2., 3., 3.])
    """

    needs_products: ClassVar[bool] = False

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """A diagonal that shortens the k longest updates."""
        k = 2 * f * (space.n - f) // space.n
        return scaled_to(space.norms, float(np.sort(space.norms)[::-1][k]))
