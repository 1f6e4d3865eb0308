"""Clipping of the f longest updates."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator

from wola.aggregation.products import Floats
from wola.aggregation.space import Space
from wola.mixing.clipping import scaled_to
from wola.mixing.mixing import Mixing


@dataclass(frozen=True)
class ClipLargest(Mixing):
    """Shorten the f longest updates to the length of the next longest.

    x_i min(1, c/||x_i||) with c the (f+1)-th largest norm, so no liar is longer than the longest
    honest update, and c itself is at most that. Clipping to a length taken from the updates is
    old; `ARC` shortens floor(2 (f/n) (n - f)) of them. That it is f here is our choice.

    Cost: one pass over the updates for their norms.

    Reference: ours.

    >>> import torch
    >>> ClipLargest()(torch.tensor([[1.0], [2.0], [-3.0], [80.0]]), f=1).flatten()
    tensor([ 1.,  2., -3.,  3.])
    """

    needs_products: ClassVar[bool] = False

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """A diagonal that shortens the f longest updates."""
        return scaled_to(space.norms, float(np.sort(space.norms)[::-1][f]))
