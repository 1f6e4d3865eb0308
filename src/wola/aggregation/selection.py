"""Selections that share their edge: the smallest of some scores, whatever their order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from wola.aggregation.products import Floats


def smallest(scores: npt.ArrayLike, count: int, errors: npt.ArrayLike = 0.0) -> Floats:
    """Equal weights over the `count` smallest scores, which sum to 1; a tie shares what is left.

    `scores` is (n,), or (..., n) for a selection in each row; `errors`, of the same shape or one
    number, says how far each score may be from its true value. With t the score of rank `count`
    and e its error, a score s_i with error e_i is tied if |s_i - t| <= e_i + e. What lies below
    the tied ones has weight 1/count, the tied ones share the rest equally, and what lies above has
    none. So the order of the scores decides nothing.

    >>> smallest([5.0, 1.0, 3.0, 3.0], 2)
    array([0.  , 0.5 , 0.25, 0.25])
    """
    values = np.asarray(scores, dtype=np.float64)
    n = values.shape[-1]
    if not 1 <= count <= n:
        raise ValueError(f"count = {count}; allowed: 1 to {n}, the number of scores")
    edge = np.partition(values, count - 1, axis=-1)[..., count - 1 : count]
    away = values - edge
    errors = np.broadcast_to(np.asarray(errors, dtype=np.float64), values.shape)
    width = errors + np.where(away == 0.0, errors, 0.0).max(axis=-1, keepdims=True)
    below = away < -width
    tied = (away <= width) ^ below
    room = count - below.sum(axis=-1, keepdims=True)
    share = room / (count * tied.sum(axis=-1, keepdims=True))
    weights: Floats = np.where(below, 1.0 / count, np.where(tied, share, 0.0))
    return weights


def tie_classes(scores: Floats, errors: Floats) -> NDArray[np.int64]:
    """The scores as whole numbers from 0 on: equal for ties, and in the order of the scores.

    Two neighbours in the sorted list of scores are tied if they differ by no more than the sum of
    their errors; what a chain of such neighbours links is one class.

    >>> tie_classes(np.array([2.0, 7.0, 2.1]), np.array([0.1, 0.1, 0.1]))
    array([0, 1, 0])
    """
    order = np.argsort(scores, kind="stable")
    ranked, reach = scores[order], errors[order]
    steps = np.diff(ranked) > reach[1:] + reach[:-1]
    classes = np.empty(len(scores), dtype=np.int64)
    classes[order] = np.concatenate([[0], np.cumsum(steps)])
    return classes


def sums_of_smallest(
    squares: Floats, errors: Floats, count: int, power: float
) -> tuple[Floats, Floats]:
    """In each row the sum of the `count` smallest square^(power/2), and how far it may be off.

    `errors` bounds the squares' own errors. A sum of smallest values grows with each of them, so
    the sums of the least and of the greatest possible values enclose it; what adding up and
    taking powers rounds is a few units in the last place of each term.
    """
    sums = []
    for bound in (np.maximum(squares - errors, 0.0), squares + errors):
        with np.errstate(over="ignore"):
            powers = bound if power == 2.0 else np.minimum(bound ** (power / 2), 1e300)
        sums.append(np.partition(powers, count - 1, axis=-1)[..., :count].sum(axis=-1))
    low, high = sums
    rounding = (count + 4) * np.finfo(np.float64).eps
    return (low + high) / 2, (high - low) / 2 + rounding * high
