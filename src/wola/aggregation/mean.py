"""The mean: the baseline that one liar can move anywhere."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.space import Space


@dataclass(frozen=True)
class Mean(GramRule):
    """The mean of all updates, (1/n) sum_i x_i.

    Breakdown point 0: a single Byzantine worker moves it anywhere. Any f < n/2 is accepted, so
    that it can serve as the baseline that robust rules are measured against.

    Cost: one pass over the updates.

    Reference: none, the baseline.

    >>> import torch
    >>> Mean()(torch.tensor([[0.0, 2.0], [2.0, 4.0]]), f=0)
    tensor([1., 3.])
    """

    needs_products: ClassVar[bool] = False

    def weigh(self, space: Space, f: int) -> Floats:
        """1/n each."""
        return np.full(space.n, 1.0 / space.n)
