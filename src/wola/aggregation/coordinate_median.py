"""The coordinate-wise median."""

from dataclasses import dataclass

from wola.aggregation.rule import MiddleRule


@dataclass(frozen=True)
class CoordinateMedian(MiddleRule):
    """The median of each coordinate; for even n the mean of the two middle values.

    Breakdown point 1/2: accepts f < n/2.

    Cost: one pass over the updates, in which a network sorts each column.

    Reference: D. Yin, Y. Chen, K. Ramchandran and P. Bartlett, Byzantine-robust distributed
    learning: towards optimal statistical rates, ICML 2018.

    >>> import torch
    >>> CoordinateMedian()(torch.tensor([[0.0, 5.0], [1.0, 6.0], [9.0, -9.0]]), f=1)
    tensor([1., 5.])
    """

    def ranks(self, n: int, f: int) -> tuple[int, int]:
        """The middle rank, or the two of them."""
        return (n - 1) // 2, n // 2 + 1
