"""Vectors that outlive a round keep a norm that their dtype can hold."""

import torch
from torch import Tensor

from wola.aggregation.source import times_power_of_two

#: The longest a kept vector may be, as a power of two below the largest number of its dtype.
ROOM = 2


def with_finite_norm(vector: Tensor) -> Tensor:
    """The vector (d,), shortened where its Euclidean norm would overflow its dtype.

    >>> with_finite_norm(torch.tensor([3.0, 4.0]))
    tensor([3., 4.])
    >>> float(with_finite_norm(torch.full((100,), 3e38)).double().norm()) < 1e38
    True
    """
    if not vector.numel():
        return vector
    peak = float(vector.abs().max())
    limit = torch.finfo(vector.dtype).max / 2**ROOM
    # A norm is at most sqrt(d) times the largest number: most vectors need no closer look.
    if peak * len(vector) ** 0.5 <= limit:
        return vector
    near_one = vector / peak
    length = float(torch.linalg.vector_norm(near_one.double()))
    return torch.mul(near_one, limit / length)


def added_with_finite_norm(first: Tensor, second: Tensor) -> Tensor:
    """The sum of two finite vectors (d,), shortened where its norm would overflow its dtype."""
    total = first + second
    if bool(total.isfinite().all()):
        return with_finite_norm(total)
    halves = times_power_of_two(first, -1) + times_power_of_two(second, -1)
    return with_finite_norm(halves)
