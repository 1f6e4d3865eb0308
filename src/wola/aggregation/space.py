"""Gram space: n updates seen through their inner products, and mixtures of them as matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wola.aggregation import _kernels
from wola.aggregation.columns import middle_mean, over_chunks
from wola.aggregation.source import Source

Floats = NDArray[np.float64]

#: Columns mixed at a time: the mixture of a block stays in the cache for the rule that reads it.
MIX_BLOCK = 8192


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
        _kernels.row_energies(rows, start, stop, total)
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
        _kernels.distances_to_extremes(rows, start, stop, total[0], total[1])
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
        parts = map(_median_centred, torch.split(piece, MIX_BLOCK, dim=1))
        return added(np.zeros((len(piece) + 1, len(piece) + 1)), parts)
    rows = piece.numpy()
    n = len(rows)
    padded = -(-(n + 1) // 4) * 4

    def chunk(start: int, stop: int) -> Floats:
        products = np.zeros((padded, padded))
        refused = np.empty(-(-(stop - start) // _kernels.GRAM_BLOCK), np.int64)
        count = _kernels.gram(rows, start, stop, products, refused)
        total = products[: n + 1, : n + 1]
        for s in refused[:count]:
            total += _median_centred(piece[:, s : min(s + _kernels.GRAM_BLOCK, stop)])
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


@dataclass(frozen=True)
class Space:
    """m points, each a mixture of the n updates of a source, known by their inner products.

    `coefficients` (m, n) says how each point is mixed; `None` stands for the updates themselves.
    Distances, norms and inner products cost O(m n^2) and never touch the d coordinates again.
    """

    source: Source
    coefficients: Floats | None = None
    given_products: Floats | None = field(default=None, repr=False)
    given_energies: Floats | None = field(default=None, repr=False)

    @cached_property
    def products(self) -> Floats:
        """Inner products of the source's centred updates and of the centre, (n+1, n+1)."""
        if self.given_products is not None:
            return self.given_products
        size = self.source.n + 1
        return added(np.zeros((size, size)), map(centred_products, self.source.pieces()))

    @property
    def n(self) -> int:
        """How many points there are."""
        return self.source.n if self.coefficients is None else len(self.coefficients)

    @cached_property
    def mixture(self) -> Floats:
        """The coefficients as a matrix, (m, n), also when they are the identity."""
        return np.eye(self.source.n) if self.coefficients is None else self.coefficients

    def mix(self, matrix: Floats) -> Space:
        """The space of the mixtures `matrix` (k, m) of these points."""
        if matrix.shape[1] != self.n:
            raise ValueError(f"matrix has shape {matrix.shape}; allowed: (k, {self.n})")
        mixed = matrix if self.coefficients is None else matrix @ self.coefficients
        return Space(self.source, mixed, self.products_if_known)

    @property
    def products_if_known(self) -> Floats | None:
        """The inner products if a pass over the data has already found them."""
        return self.__dict__.get("products", self.given_products)

    @cached_property
    def gram(self) -> Floats:
        """Inner products of the points, <y_k, y_l>, (m, m)."""
        return self._inner(self.mixture.sum(axis=1))

    @cached_property
    def centred_gram(self) -> Floats:
        """Inner products of the points seen from a point in their middle, (m, m)."""
        total = self.mixture.sum(axis=1)
        return self._inner(total - np.median(total))

    def _inner(self, centre: Floats) -> Floats:
        if self.coefficients is None and not centre.any():
            return self.products[:-1, :-1]
        basis = np.column_stack([self.mixture, centre])
        result: Floats = basis @ self.products @ basis.T
        return result

    @cached_property
    def squared_distances(self) -> Floats:
        """Squared Euclidean distances between the points, (m, m); the diagonal is zero."""
        gram = self.centred_gram
        energy = gram.diagonal()
        distances = np.maximum(energy[:, None] + energy[None, :] - 2 * gram, 0.0)
        np.fill_diagonal(distances, 0.0)
        return distances

    @cached_property
    def norms(self) -> Floats:
        """Euclidean norms of the points, (m,)."""
        if self.coefficients is None and self.given_energies is not None:
            return np.sqrt(self.given_energies)
        return np.sqrt(np.maximum(self.gram.diagonal(), 0.0))

    def blocks(self) -> Iterator[Tensor]:
        """The points themselves, column block by column block, in order: tensors (m, b)."""
        for piece in self.source.pieces():
            if self.coefficients is None:
                yield piece
                continue
            matrix = torch.from_numpy(self.coefficients).to(piece)
            for block in torch.split(piece, MIX_BLOCK, dim=1):
                yield matrix @ block

    def combination(self, weights: Floats) -> Tensor:
        """sum_k weights_k y_k, (d,), in one pass over the source."""
        over_source = weights @ self.mixture
        parts = [_weighted_sum(over_source, piece) for piece in self.source.pieces()]
        return parts[0] if len(parts) == 1 else torch.cat(parts)


def _weighted_sum(weights: Floats, piece: Tensor) -> Tensor:
    if piece.device.type != "cpu":
        return torch.from_numpy(weights).to(piece) @ piece
    out = torch.empty(piece.shape[1], dtype=piece.dtype)
    rows, result = piece.numpy(), out.numpy()

    def chunk(start: int, stop: int) -> Any:
        _kernels.weighted_sum(weights, rows, start, stop, result)

    over_chunks(chunk, piece.shape[1])
    return out
