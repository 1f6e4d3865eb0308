"""The coordinate-wise trimmed mean."""

from dataclasses import dataclass

from wola.aggregation.rule import MiddleRule


@dataclass(frozen=True)
class TrimmedMean(MiddleRule):
    """In each coordinate, drop the f largest and the f smallest values; the mean of the rest.

    Accepts f < n/2 (n - 2f values remain; with n - 2f = 1 it is the median).

    Cost: one pass over the updates, in which a network sorts each column.

    Reference: D. Yin, Y. Chen, K. Ramchandran and P. Bartlett, Byzantine-robust distributed
    learning: towards optimal statistical rates, ICML 2018.

    >>> import torch
    >>> TrimmedMean()(torch.tensor([[1.0], [2.0], [3.0], [100.0]]), f=1)
    tensor([2.5000])
    """

    def ranks(self, n: int, f: int) -> tuple[int, int]:
        """All but the f lowest and the f highest."""
        return f, n - f
