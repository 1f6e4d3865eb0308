"""Ties: the first of the largest scores."""

from torch import Tensor

#: Scores that differ by no more than this are ties up to rounding.
ROUNDING = 1e-12


def first_of_largest(scores: Tensor) -> int:
    """The lowest index of the largest score, where scores equal to rounding are ties."""
    return int((scores >= scores.max() - ROUNDING).nonzero()[0])
