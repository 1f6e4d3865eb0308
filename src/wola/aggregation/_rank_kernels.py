"""CPU kernels for values in order: means of ranks, and extremes, of each column of an (n, d) array.

Serial, without the interpreter lock, over columns start..stop. Each inner loop runs over the
contiguous columns of a cache-sized block, which is what the compiler vectorises. Rows must be
contiguous.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wola.aggregation.compiled import compiled

Array = NDArray[Any]

_exact = compiled
_contracted = partial(compiled, fastmath={"contract"})
_sums = partial(compiled, fastmath={"reassoc", "contract", "nsz"})

#: Columns of a block. Not a power of two: rows that far apart would compete for the same cache
#: lines.
NETWORK_BLOCK = 1040


@_contracted
def _copy_with_energy(source: Array, target: Array, energy: Array) -> None:
    for j in range(target.shape[0]):
        target[j] = source[j]
        energy[j] += source[j] * source[j]


@_exact
def _all_within(values: Array, limit: Any) -> bool:
    inside = True
    for j in range(values.shape[0]):
        inside &= values[j] <= limit
    return inside


@_exact
def _compare(a: Array, b: Array, low: Array, high: Array) -> None:
    # Out of place: written in place, the smaller value becomes a masked store, ten times slower.
    for j in range(a.shape[0]):
        u = a[j]
        v = b[j]
        less = u < v
        low[j] = u if less else v
        high[j] = v if less else u


@_exact
def _run_network(network: Array, block: Array, at: Array, width: int) -> None:
    # at[i] is where row i lives now; the last two entries are the spare rows.
    spare = at.shape[0] - 2
    for k in range(network.shape[0]):
        a, b = network[k, 0], network[k, 1]
        from_a, from_b, low, high = at[a], at[b], at[spare], at[spare + 1]
        _compare(
            block[from_a, :width], block[from_b, :width], block[low, :width], block[high, :width]
        )
        at[a], at[b], at[spare], at[spare + 1] = low, high, from_a, from_b


@_exact
def _load(x: Array, start: int, width: int, block: Array, at: Array, limit: Any) -> bool:
    # The next row to be written over serves as the sum of squares of each column.
    energy = block[at[x.shape[0]], :width]
    energy[:] = 0
    for i in range(x.shape[0]):
        _copy_with_energy(x[i, start : start + width], block[at[i], :width], energy)
    return _all_within(energy, limit)


@_exact
def _add(source: Array, target: Array) -> None:
    for j in range(target.shape[0]):
        target[j] += source[j]


@_exact
def _divide(source: Array, by: float, target: Array) -> None:
    for j in range(target.shape[0]):
        target[j] = source[j] / by


@_exact
def _still_equal(value: Array, first: Array, equal: Array) -> None:
    for j in range(equal.shape[0]):
        equal[j] &= value[j] == first[j]


@_exact
def _keep_equal(first: Array, equal: Array, out: Array) -> None:
    # The mean of equal values is that value; in float64 their sum would round.
    for j in range(out.shape[0]):
        out[j] = first[j] if equal[j] else out[j]


@_exact
def network_mean(
    x: Array, start: int, stop: int, limit: Any, network: Array, low: int, high: int, out: Array
) -> bool:
    """Write the mean of ranks low..high-1 of each column to `out`.

    Returns whether the squares of every column add up to at most `limit`, which no column with a
    non-finite value does.
    """
    n = x.shape[0]
    block = np.empty((n + 2, NETWORK_BLOCK), x.dtype)
    total = np.empty(NETWORK_BLOCK, np.float64)
    equal = np.empty(NETWORK_BLOCK, np.bool_)
    at = np.arange(n + 2)
    clean = True
    for s in range(start, stop, NETWORK_BLOCK):
        width = min(NETWORK_BLOCK, stop - s)
        clean &= _load(x, s, width, block, at, limit)
        _run_network(network, block, at, width)
        total[:width] = 0.0
        for i in range(low, high):
            _add(block[at[i], :width], total[:width])
        _divide(total[:width], float(high - low), out[s : s + width])
        if x.itemsize == 8:
            equal[:width] = True
            for i in range(low + 1, high):
                _still_equal(block[at[i], :width], block[at[low], :width], equal[:width])
            _keep_equal(block[at[low], :width], equal[:width], out[s : s + width])
    return clean


@_exact
def _shift(left: Array, right: Array, twice: Array, first: Array) -> bool:
    # twice is the median's double: m - left > right - m, without rounding a difference.
    tied = False
    for j in range(twice.shape[0]):
        both = np.float64(left[j]) + np.float64(right[j])
        first[j] += both < twice[j]
        tied |= both == twice[j]
    return tied


@_exact
def _share_ties(
    block: Array, at: Array, n: int, keep: int, twice: Array, first: Array, total: Array
) -> None:
    # Where the lowest value inside and the next above are equally far from the median, all values
    # equal to one of the two share the places that the values between them leave.
    for j in range(twice.shape[0]):
        if first[j] + keep == n:
            continue
        low = np.float64(block[at[first[j]], j])
        high = np.float64(block[at[first[j] + keep], j])
        if low + high != twice[j] or low == high:
            continue
        inside, places, lows, highs = 0.0, keep, 0, 0
        for i in range(n):
            value = np.float64(block[at[i], j])
            if low < value < high:
                inside += value
                places -= 1
            lows += value == low
            highs += value == high
        total[j] = inside + places * ((lows * low + highs * high) / (lows + highs))


@_exact
def _keep_equal_windows(
    block: Array, at: Array, n: int, keep: int, twice: Array, first: Array, out: Array
) -> None:
    for j in range(out.shape[0]):
        lowest, after = block[at[first[j]], j], first[j] + keep
        if lowest != block[at[after - 1], j]:
            continue
        # A window of equal values that shares its places with others is not their mean alone.
        shared = after < n and lowest + block[at[min(after, n - 1)], j] == twice[j]
        if not shared or lowest == block[at[after], j]:
            out[j] = lowest


@_exact
def _add_inside(source: Array, i: int, first: Array, keep: int, target: Array) -> None:
    for j in range(target.shape[0]):
        inside = first[j] <= i < first[j] + keep
        target[j] += np.float64(source[j]) if inside else 0.0


@_exact
def network_mean_around_median(
    x: Array, start: int, stop: int, limit: Any, network: Array, keep: int, out: Array
) -> bool:
    """Write the mean of the `keep` values nearest to each column's median to `out`.

    In a sorted column those values are a window, which moves up by one as long as the value it
    would lose is farther from the median than the one it would win; at a tie both sides share.
    Returns what `network_mean` does.
    """
    n = x.shape[0]
    block = np.empty((n + 2, NETWORK_BLOCK), x.dtype)
    twice = np.empty(NETWORK_BLOCK, np.float64)
    total = np.empty(NETWORK_BLOCK, np.float64)
    first = np.empty(NETWORK_BLOCK, np.int64)
    at = np.arange(n + 2)
    clean = True
    for s in range(start, stop, NETWORK_BLOCK):
        width = min(NETWORK_BLOCK, stop - s)
        clean &= _load(x, s, width, block, at, limit)
        _run_network(network, block, at, width)
        twice[:width] = 0.0
        _add(block[at[(n - 1) // 2], :width], twice[:width])
        _add(block[at[n // 2], :width], twice[:width])
        first[:width] = 0
        tied = False
        for k in range(n - keep):
            left, right = block[at[k], :width], block[at[k + keep], :width]
            tied |= _shift(left, right, twice[:width], first[:width])
        total[:width] = 0.0
        for i in range(n):
            _add_inside(block[at[i], :width], i, first[:width], keep, total[:width])
        if tied:
            _share_ties(block, at, n, keep, twice[:width], first[:width], total[:width])
        _divide(total[:width], float(keep), out[s : s + width])
        if x.itemsize == 8:
            result = out[s : s + width]
            _keep_equal_windows(block, at, n, keep, twice[:width], first[:width], result)
    return clean


@_exact
def _widen(row: Array, largest: Array, smallest: Array) -> None:
    for j in range(row.shape[0]):
        largest[j] = max(largest[j], row[j])
        smallest[j] = min(smallest[j], row[j])


@_sums
def _squared_distance(a: Array, b: Array) -> float:
    total = 0.0
    for j in range(a.shape[0]):
        apart = np.float64(a[j]) - np.float64(b[j])
        total += apart * apart
    return total


@_exact
def distances_to_extremes(
    x: Array, start: int, stop: int, to_largest: Array, to_smallest: Array
) -> None:
    """Add each row's squared distances to the largest and to the smallest value of each column."""
    for s in range(start, stop, NETWORK_BLOCK):
        e = min(s + NETWORK_BLOCK, stop)
        largest, smallest = x[0, s:e].copy(), x[0, s:e].copy()
        for i in range(1, x.shape[0]):
            _widen(x[i, s:e], largest, smallest)
        for i in range(x.shape[0]):
            to_largest[i] += _squared_distance(x[i, s:e], largest)
            to_smallest[i] += _squared_distance(x[i, s:e], smallest)
