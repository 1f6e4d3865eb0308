"""CPU kernels for inner products and weighted sums of the rows of an (n, d) array.

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
_sums = partial(compiled, fastmath={"reassoc", "contract", "nsz"})

#: Columns of a block.
GRAM_BLOCK = 776
#: Two rows of a block that are this much closer to each other (squared) than to its centre have
#: lost too many digits: the centre is badly placed.
CLOSEST_PAIR = 1e-4


@_sums
def _sum_of_squares(row: Array) -> float:
    total = 0.0
    for j in range(row.shape[0]):
        value = np.float64(row[j])
        total += value * value
    return total


@_exact
def row_energies(x: Array, start: int, stop: int, out: Array) -> None:
    """Add to out[i] the sum of squares of row i, in float64."""
    for i in range(x.shape[0]):
        out[i] += _sum_of_squares(x[i, start:stop])


@_sums
def _accumulate_4(a: Array, b: Array, c: Array, e: Array, w: Array, total: Array) -> None:
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    for j in range(total.shape[0]):
        total[j] += w0 * a[j] + w1 * b[j] + w2 * c[j] + w3 * e[j]


@_exact
def _accumulate(a: Array, w: float, total: Array) -> None:
    for j in range(total.shape[0]):
        total[j] += w * a[j]


@_exact
def _store(source: Array, target: Array) -> None:
    for j in range(target.shape[0]):
        target[j] = source[j]


@_exact
def _combine(weights: Array, x: Array, start: int, total: Array) -> None:
    stop = start + total.shape[0]
    total[:] = 0.0
    paired = x.shape[0] - x.shape[0] % 4
    for i in range(0, paired, 4):
        _accumulate_4(
            x[i, start:stop],
            x[i + 1, start:stop],
            x[i + 2, start:stop],
            x[i + 3, start:stop],
            weights[i : i + 4],
            total,
        )
    for i in range(paired, x.shape[0]):
        _accumulate(x[i, start:stop], weights[i], total)


@_exact
def weighted_sum(weights: Array, x: Array, start: int, stop: int, out: Array) -> None:
    """Write sum_i weights[i] x[i] to `out`, added up in float64."""
    total = np.empty(GRAM_BLOCK, np.float64)
    for s in range(start, stop, GRAM_BLOCK):
        width = min(GRAM_BLOCK, stop - s)
        _combine(weights, x, s, total[:width])
        _store(total[:width], out[s : s + width])


@_exact
def _subtract(source: Array, centre: Array, target: Array) -> None:
    for j in range(centre.shape[0]):
        target[j] = source[j] - centre[j]


@_sums
def _products_4x4(rows: Array, i: int, k: int, width: int, out: Array) -> None:
    a0, a1 = rows[i, :width], rows[i + 1, :width]
    a2, a3 = rows[i + 2, :width], rows[i + 3, :width]
    b0, b1 = rows[k, :width], rows[k + 1, :width]
    b2, b3 = rows[k + 2, :width], rows[k + 3, :width]
    s00 = s01 = s02 = s03 = 0.0
    s10 = s11 = s12 = s13 = 0.0
    s20 = s21 = s22 = s23 = 0.0
    s30 = s31 = s32 = s33 = 0.0
    for j in range(width):
        u0, u1, u2, u3 = a0[j], a1[j], a2[j], a3[j]
        v0, v1, v2, v3 = b0[j], b1[j], b2[j], b3[j]
        s00 += u0 * v0
        s01 += u0 * v1
        s02 += u0 * v2
        s03 += u0 * v3
        s10 += u1 * v0
        s11 += u1 * v1
        s12 += u1 * v2
        s13 += u1 * v3
        s20 += u2 * v0
        s21 += u2 * v1
        s22 += u2 * v2
        s23 += u2 * v3
        s30 += u3 * v0
        s31 += u3 * v1
        s32 += u3 * v2
        s33 += u3 * v3
    out[i, k], out[i, k + 1] = s00, s01
    out[i, k + 2], out[i, k + 3] = s02, s03
    out[i + 1, k], out[i + 1, k + 1] = s10, s11
    out[i + 1, k + 2], out[i + 1, k + 3] = s12, s13
    out[i + 2, k], out[i + 2, k + 1] = s20, s21
    out[i + 2, k + 2], out[i + 2, k + 3] = s22, s23
    out[i + 3, k], out[i + 3, k + 1] = s30, s31
    out[i + 3, k + 2], out[i + 3, k + 3] = s32, s33


@_exact
def _products(rows: Array, width: int, out: Array) -> None:
    # rows holds a multiple of four rows; only tiles on and above the diagonal are computed.
    for i in range(0, rows.shape[0], 4):
        for k in range(i, rows.shape[0], 4):
            _products_4x4(rows, i, k, width, out)


@_exact
def _equal(a: Array, b: Array) -> bool:
    same = True
    for j in range(a.shape[0]):
        same &= a[j] == b[j]
    return same


@_exact
def well_centred(x: Array, start: int, stop: int, products: Array) -> bool:
    """Whether the products of a block's centred rows still tell the rows apart.

    They do not if they are not finite, or if the centre is so far away that the distance between
    two rows drowns in rounding: rows that differ, but not by their products.
    """
    n = x.shape[0]
    for i in range(n):
        compared = False
        for k in range(i + 1, n):
            energy = products[i, i] + products[k, k]
            apart = energy - 2 * products[i, k]
            if apart != 0.0:
                if not apart >= CLOSEST_PAIR * energy:
                    return False
            elif not compared:
                # Equality carries on from row to row: one comparison for each row is enough.
                compared = True
                if not _equal(x[i, start:stop], x[k, start:stop]):
                    return False
    return bool(np.isfinite(products[0, 0]) and np.isfinite(products[n, n]))


@_exact
def gram(x: Array, start: int, stop: int, products: Array, refused: Array) -> int:
    """Add the inner products of the centred rows, and of the centre, block by block.

    `products` is (p, p), p >= n + 1 a multiple of four; row n stands for the centre, the mean of
    the block's rows; only entries on and above the diagonal are meant. A block that is not
    finite, or whose mean lies so far from rows that are close to each other that their distance
    drowns in rounding, is not added: its first column goes to `refused`. Returns how many were.
    """
    n = x.shape[0]
    rows = np.zeros((products.shape[0], GRAM_BLOCK), np.float64)
    block = np.zeros_like(products)
    share = np.full(n, 1.0 / n)
    count = 0
    for s in range(start, stop, GRAM_BLOCK):
        width = min(GRAM_BLOCK, stop - s)
        centre = rows[n, :width]
        _combine(share, x, s, centre)
        for i in range(n):
            _subtract(x[i, s : s + width], centre, rows[i, :width])
        _products(rows, width, block)
        if well_centred(x, s, s + width, block):
            products += block
        else:
            refused[count] = s
            count += 1
    return count
