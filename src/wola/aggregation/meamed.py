"""The mean around the median, coordinate by coordinate."""

from dataclasses import dataclass

from torch import Tensor

from wola.aggregation.columns import mean_around_median
from wola.aggregation.rule import RankRule


@dataclass(frozen=True)
class MeaMed(RankRule):
    """In each coordinate, the mean of the n - f values nearest to the median.

    Values tied at the edge, equally far on both sides, share the places that the nearer ones leave.
    Accepts f < n/2.

    Cost: one pass over the updates, in which a network sorts each column.

    Reference: C. Xie, O. Koyejo and I. Gupta, Generalized Byzantine-tolerant SGD, arXiv 2018.

    >>> import torch
    >>> MeaMed()(torch.tensor([[1.0], [2.0], [3.0], [100.0]]), f=1)
    tensor([2.])
    """

    def ranked(self, block: Tensor, f: int) -> tuple[Tensor, bool]:
        """The mean of the n - f values nearest to each column's median."""
        return mean_around_median(block, len(block) - f)
