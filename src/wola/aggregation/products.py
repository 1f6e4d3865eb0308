"""What a pass over a piece of the updates finds: norms, inner products, and their rounding."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wola.aggregation import _gram_kernels, _rank_kernels
from wola.aggregation.columns import middle_mean, over_chunks

Floats = NDArray[np.float64]

#: Columns whose inner products are found at a time where no kernel does it.
PRODUCT_BLOCK = 8192
#: The most that `rounding` gives.
ROUNDING = 2.0**-40


def rounding(n: int, columns: int) -> float:
    """How far a squared distance a + b - 2c of n rows may be off, relative to a + b.

    A product of d numbers is added up in float64: at most 776 of them in a block (`GRAM_BLOCK`),
    then the blocks of a chunk, then chunks and pieces; a mixture adds up n such numbers twice. Each
    addition rounds by at most 2^-53, and a + b + 2|c| is at most 2 (a + b); the last factor of two
    is for the differences that are multiplied. So rows that are equally far apart differ by no
    more, however they are added up, while d is at most 10^8.

    >>> rounding(17, 10) < rounding(17, 431_080) < 2**-40
    True
    """
    block = _gram_kernels.GRAM_BLOCK
    additions = min(columns, block) + columns / block + 4 * n + 16
    return min(ROUNDING, additions * 2.0**-51)


def added(start: Floats, parts: Iterable[Floats]) -> Floats:
    """`start` and all parts added up in order."""
    for part in parts:
        start += part
    return start


def row_energies(piece: Tensor) -> Floats:
    """Sum of squares of each row, in float64; non-finite exactly where a row is, or overflows."""
    if piece.device.type != "cpu":
        energies: Floats = piece.double().square().sum(dim=1).cpu().numpy()
        return energies

    def chunk(start: int, stop: int) -> Floats:
        total = np.zeros(len(rows))
        _gram_kernels.row_energies(rows, start, stop, total)
        return total

    rows = piece.numpy()
    return added(np.zeros(len(rows)), over_chunks(chunk, rows.shape[1]))


def distances_to_extremes(piece: Tensor) -> tuple[Floats, Floats]:
    """Squared distances of each row to the column-wise largest and smallest values, (n,) each."""
    if piece.device.type != "cpu":
        return _distances_to_extremes_torch(piece)
    rows = piece.numpy()

    def chunk(start: int, stop: int) -> Floats:
        total = np.zeros((2, len(rows)))
        _rank_kernels.distances_to_extremes(rows, start, stop, total[0], total[1])
        return total

    largest, smallest = added(np.zeros((2, len(rows))), over_chunks(chunk, rows.shape[1]))
    return largest, smallest


def _distances_to_extremes_torch(piece: Tensor) -> tuple[Floats, Floats]:
    values = piece.double()
    largest: Floats = (values.amax(dim=0) - values).square().sum(dim=1).cpu().numpy()
    smallest: Floats = (values.amin(dim=0) - values).square().sum(dim=1).cpu().numpy()
    return largest, smallest


def centred_products(piece: Tensor) -> Floats:
    """Inner products of the rows of a piece, taken from a centre, and of the centre itself.

    For a piece (n, b), block by block of columns: with c a point in the middle of the block's
    rows, the Gram matrix of [x_1 - c; ...; x_n - c; c], added up over blocks, (n+1, n+1). Taken
    from a centre, rows that share a huge common part keep the digits in which they differ.
    """
    if piece.device.type != "cpu":
        parts = map(_median_centred, torch.split(piece, PRODUCT_BLOCK, dim=1))
        return added(np.zeros((len(piece) + 1, len(piece) + 1)), parts)
    rows = piece.numpy()
    n = len(rows)
    padded = -(-(n + 1) // 4) * 4

    def chunk(start: int, stop: int) -> Floats:
        products = np.zeros((padded, padded))
        refused = np.empty(-(-(stop - start) // _gram_kernels.GRAM_BLOCK), np.int64)
        count = _gram_kernels.gram(rows, start, stop, products, refused)
        total = products[: n + 1, : n + 1]
        for s in refused[:count]:
            total += _median_centred(piece[:, s : min(s + _gram_kernels.GRAM_BLOCK, stop)])
        return total

    total = added(np.zeros((n + 1, n + 1)), over_chunks(chunk, rows.shape[1]))
    return np.triu(total) + np.triu(total, 1).T


def _median_centred(block: Tensor) -> Floats:
    # No minority of rows, however far away, can carry the median off as it carries the mean.
    values = block.double().contiguous()
    n = len(values)
    centre = middle_mean(values, (n - 1) // 2, n // 2 + 1)[0][None]
    rows = torch.cat([values - centre, centre])
    products: Floats = (rows @ rows.T).cpu().numpy()
    return products
