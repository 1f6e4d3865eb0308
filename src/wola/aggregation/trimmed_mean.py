"""The coordinate-wise trimmed mean."""

from dataclasses import dataclass
from typing import Any

from torch import Generator

from wola.aggregation.rule import MiddleRule
from wola.aggregation.source import Updates


@dataclass(frozen=True)
class TrimmedMean(MiddleRule):
    """In each coordinate, drop the f largest and the f smallest values; the mean of the rest.

    Accepts f < n/2 (n - 2f values remain; with n - 2f = 1 it is the median). Reference: D. Yin,
    Y. Chen, K. Ramchandran and P. Bartlett, Byzantine-robust distributed learning: towards
    optimal statistical rates, ICML 2018.

    >>> import torch
    >>> TrimmedMean()(torch.tensor([[1.0], [2.0], [3.0], [100.0]]), f=1)
    tensor([2.5000])
    """

    def ranks(self, n: int, f: int) -> tuple[int, int]:
        """All but the f lowest and the f highest."""
        return f, n - f


def trimmed_mean(updates: Updates, f: int, generator: Generator | None = None) -> Any:
    """The coordinate-wise trimmed mean of the updates, (d,): see `TrimmedMean`.

    >>> import torch
    >>> trimmed_mean(torch.tensor([[-7.0], [1.0], [3.0], [9.0]]), f=1)
    tensor([2.])
    """
    return TrimmedMean()(updates, f, generator)
