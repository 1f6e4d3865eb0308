"""CPU kernels over sets of workers, each given by those it leaves out: serial, without the lock."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wola.aggregation.compiled import compiled

Array = NDArray[Any]


@compiled
def _sum_of_largest(values: Array, count: int, largest: Array) -> float:
    # `largest` holds the largest so far in falling order.
    held = 0
    for value in values:
        if held < count:
            held += 1
        elif count == 0 or value <= largest[count - 1]:
            continue
        k = held - 1
        while k > 0 and largest[k - 1] < value:
            largest[k] = largest[k - 1]
            k -= 1
        largest[k] = value
    total = 0.0
    for k in range(held):
        total += largest[k]
    return total


@compiled
def coherences(left_out: Array, plain: Array, capped: Array, shortest: float, out: Array) -> None:
    """Write for each set the mean of its n - 2f smallest cosines with its own sum.

    `left_out` (s, f) are the workers that each set lacks, `plain` and `capped` (n, n) the cosines
    for the length of the sum and for the cosines with it; no sum counts as shorter than `shortest`.
    """
    n, f = len(plain), left_out.shape[1]
    members, count = n - f, n - 2 * f
    plain_rows, capped_rows = np.zeros(n), np.ones(n)
    for i in range(n):
        capped_rows[i] -= capped[i, i]
        for k in range(n):
            plain_rows[i] += plain[i, k]
            capped_rows[i] += capped[i, k]
    inside = np.ones(n, np.bool_)
    values, largest = np.empty(members), np.empty(min(f, count))
    for s in range(len(left_out)):
        for k in range(f):
            inside[left_out[s, k]] = False
        square, whole, place = 0.0, 0.0, 0
        for i in range(n):
            if not inside[i]:
                continue
            length, along = plain_rows[i], capped_rows[i]
            for k in range(f):
                length -= plain[i, left_out[s, k]]
                along -= capped[i, left_out[s, k]]
            square += length
            whole += along
            values[place] = along if f < count else -along
            place += 1
        for k in range(f):
            inside[left_out[s, k]] = True
        # The n - 2f smallest of n - f are all but the f largest: the fewer are looked for.
        if f < count:
            smallest = whole - _sum_of_largest(values, f, largest)
        else:
            smallest = -_sum_of_largest(values, count, largest)
        out[s] = smallest / count / max(np.sqrt(max(square, 0.0)), shortest)


@compiled
def cheapest(left_out: Array, costs: Array, slope: Array) -> int:
    """The first set of least cost plus mean slope of its members."""
    f = left_out.shape[1]
    members = len(slope) - f
    total = slope.sum()
    best, least = 0, np.inf
    for s in range(len(left_out)):
        rest = total
        for k in range(f):
            rest -= slope[left_out[s, k]]
        value = costs[s] + rest / members
        if value < least:
            best, least = s, value
    return best
