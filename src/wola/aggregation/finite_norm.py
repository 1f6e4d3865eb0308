"""Vectors that outlive a round keep a norm that their dtype can hold."""

from math import isfinite

import torch
from torch import Tensor

#: A kept vector is at most this share of the largest number of its dtype long.
LONGEST = 0.25


def with_finite_norm(vector: Tensor) -> Tensor:
    """The vector (d,), shortened where its Euclidean norm would overflow its dtype.

    >>> with_finite_norm(torch.tensor([3.0, 4.0]))
    tensor([3., 4.])
    >>> float(with_finite_norm(torch.full((100,), 3e38)).double().norm()) < 1e38
    True
    """
    if not vector.numel():
        return vector
    peak = _peak(vector)
    limit = torch.finfo(vector.dtype).max * LONGEST
    # A norm is at most sqrt(d) times the largest number: most vectors need no closer look.
    if peak * len(vector) ** 0.5 <= limit:
        return vector
    near_one = vector / peak
    most = limit / float(torch.linalg.vector_norm(near_one.double()))
    return vector if peak <= most else torch.mul(near_one, most)


def _peak(vector: Tensor) -> float:
    lowest, highest = torch.aminmax(vector)
    return max(-float(lowest), float(highest))


def has_finite_peak(vector: Tensor) -> bool:
    """Whether all numbers of the vector (d,) are finite, in one pass."""
    return not vector.numel() or isfinite(_peak(vector))
