"""Gram space: n updates seen through their inner products, and mixtures of them as matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wola.aggregation import _gram_kernels
from wola.aggregation.columns import over_chunks
from wola.aggregation.products import (
    ROUNDING,
    Floats,
    added,
    centred_products,
    rounding,
    row_energies,
)
from wola.aggregation.source import (
    SomeColumns,
    Stacked,
    UpdateSource,
    split_pieces,
    times_power_of_two,
)
from wola.aggregation.view import NOTHING_KNOWN, View

#: Columns mixed at a time: the mixture of a block stays in the cache for the rule that reads it.
MIX_BLOCK = 8192


@dataclass(frozen=True)
class Space:
    """m points, each a mixture of the n updates of a source, known by their inner products.

    `coefficients` (m, n) says how each point is mixed; `None` stands for the updates themselves.
    Distances, norms and inner products cost O(m n^2) and never touch the d coordinates again. They
    are those of the source, whose unit of length is 2^exponent: 1 unless float64 updates are so
    large or small that their squares would overflow or vanish.

    The last `marks` rows of the source are the server's own: no points, but see `with_marks`.
    `view` is what else the server knows.
    """

    source: UpdateSource
    coefficients: Floats | None = None
    given_products: Floats | None = field(default=None, repr=False)
    given_energies: Floats | None = field(default=None, repr=False)
    exponent: int = 0
    rounding: float = ROUNDING
    given_columns: int | None = None
    marks: int = 0
    view: View = field(default=NOTHING_KNOWN, repr=False)

    @classmethod
    def with_server_rows(cls, source: UpdateSource, rows: Tensor, view: View) -> Space:
        """The updates of a source as points, with rows (r, d) of the server's beside them."""
        n, r = source.n, len(rows)
        return cls(Stacked(source, rows), np.eye(n, n + r), marks=r, view=view)

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

    def mix(self, matrix: Floats, view: View | None = None) -> Space:
        """The space of the mixtures `matrix` (k, m) of these points.

        The server's view of them is mixed too, unless `view` says what it is.
        """
        if matrix.shape[1] != self.n:
            raise ValueError(f"matrix has shape {matrix.shape}; allowed: (k, {self.n})")
        mixed = matrix if self.coefficients is None else matrix @ self.coefficients
        known = self.products_if_known
        seen = self.view.mixed(matrix) if view is None else view
        return replace(self, coefficients=mixed, given_products=known, view=seen)

    @cached_property
    def with_marks(self) -> Space:
        """The points, then the server's own rows as points after them."""
        own = np.eye(self.source.n)[self.source.n - self.marks :]
        rows = np.vstack([self.mixture, own])
        return replace(self, coefficients=rows, given_products=self.products, marks=0)

    @cached_property
    def columns(self) -> int:
        """d, the number of coordinates."""
        if self.given_columns is not None:
            return self.given_columns
        return sum(piece.shape[1] for piece in self.source.pieces())

    def restricted(self, groups: Sequence[NDArray[np.int64]]) -> list[Space]:
        """The same points in some of their columns: a space for each group, all in one pass.

        The columns of a group are in ascending order.
        """
        size = self.source.n + 1
        products = [np.zeros((size, size)) for _ in groups]
        for k, part in split_pieces(self.source, groups):
            products[k] += centred_products(part)
        return [
            replace(
                self,
                source=SomeColumns(self.source, group),
                given_products=found,
                given_energies=None,
                rounding=rounding(self.source.n, len(group)),
                given_columns=len(group),
            )
            for group, found in zip(groups, products, strict=True)
        ]

    @property
    def products_if_known(self) -> Floats | None:
        """The inner products if a pass over the data has already found them."""
        return self.__dict__.get("products", self.given_products)

    def in_units(self, length: float) -> float:
        """An absolute length in the space's own unit of length, 2^exponent."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(length, -self.exponent))

    @cached_property
    def gram(self) -> Floats:
        """Inner products of the points, <y_k, y_l>, (m, m)."""
        return self._inner(self.mixture.sum(axis=1))

    @cached_property
    def centred_gram(self) -> Floats:
        """Inner products of the points seen from a point in their middle, (m, m)."""
        return self._inner(self._off_centre)

    @cached_property
    def _off_centre(self) -> Floats:
        total = self.mixture.sum(axis=1)
        off: Floats = total - np.median(total)
        return off

    def _inner(self, centre: Floats) -> Floats:
        if self.coefficients is None and not centre.any():
            return self.products[:-1, :-1]
        basis = np.column_stack([self.mixture, centre])
        result: Floats = basis @ self.products @ basis.T
        return result

    def _magnitudes(self, centre: Floats) -> Floats:
        # Squares of what each point's inner products are added up from: its parts, one by one.
        lengths = np.sqrt(np.maximum(self.products.diagonal(), 0.0))
        if self.coefficients is None:
            parts = lengths[:-1] + np.abs(centre) * lengths[-1]
        else:
            parts = np.abs(self.coefficients) @ lengths[:-1] + np.abs(centre) * lengths[-1]
        squares: Floats = parts * parts
        return squares

    @cached_property
    def gram_errors(self) -> Floats:
        """(m,) numbers t: no entry of `centred_gram` is farther than sqrt(t_k t_l) off."""
        return self.rounding * self._magnitudes(self._off_centre)

    @cached_property
    def _distances(self) -> tuple[Floats, Floats]:
        gram, reach = self.centred_gram, self.gram_errors
        energy = gram.diagonal()
        errors = reach[:, None] + reach[None, :]
        distances = energy[:, None] + energy[None, :] - 2 * gram
        # What rounding cannot tell apart lies at one point.
        apart = distances > errors
        np.fill_diagonal(apart, False)
        return distances * apart, errors * apart

    @property
    def squared_distances(self) -> Floats:
        """Squared Euclidean distances between the points, (m, m); zero where they coincide.

        Points coincide if they are no farther apart than rounding can make two equal ones.
        """
        return self._distances[0]

    @property
    def distance_errors(self) -> Floats:
        """How far each squared distance may be off by rounding, (m, m); zero where it is zero."""
        return self._distances[1]

    @cached_property
    def energies(self) -> Floats:
        """Squared Euclidean norms of the points, (m,)."""
        if self.coefficients is None and self.given_energies is not None:
            return self.given_energies
        return np.maximum(self.gram.diagonal(), 0.0)

    @property
    def source_energies(self) -> Floats:
        """Squared Euclidean norms of the updates themselves, (n,)."""
        if self.given_energies is not None:
            return self.given_energies
        return added(np.zeros(self.source.n), map(row_energies, self.source.pieces()))

    @cached_property
    def energy_errors(self) -> Floats:
        """How far each squared norm may be off by rounding, (m,)."""
        if self.coefficients is None and self.products_if_known is None:
            return self.rounding * self.energies
        return self.rounding * self._magnitudes(self.mixture.sum(axis=1))

    @cached_property
    def norms(self) -> Floats:
        """Euclidean norms of the points, (m,)."""
        return np.sqrt(self.energies)

    def blocks(self, dtype: torch.dtype | None = None) -> Iterator[Tensor]:
        """The points themselves, column block by column block, in order: tensors (m, b).

        Mixtures are made in the dtype of the updates, or in `dtype`. The mean of equal updates is
        that update, to the last bit.
        """
        if self.coefficients is None:
            yield from self.source.pieces()
            return
        if self.marks and np.array_equal(self.coefficients, np.eye(*self.coefficients.shape)):
            # The updates as they are.
            yield from (piece[: self.n] for piece in self.source.workers().pieces())
            return
        means = means_of_equals(self.coefficients, self.given_energies)
        for piece in self.source.pieces():
            matrix = torch.from_numpy(self.coefficients).to(piece.device, dtype or piece.dtype)
            for columns in torch.split(piece, MIX_BLOCK, dim=1):
                block = columns.to(matrix.dtype)
                mixed = matrix @ block
                for k, rows in means:
                    if all_equal(block, rows):
                        mixed[k] = block[rows[0]]
                yield mixed

    def combination(self, weights: Floats) -> Tensor:
        """sum_k weights_k y_k, (d,), in one pass over the source."""
        over_source, source = weights @ self.mixture, self.source
        energies = self.given_energies
        if self.marks and not over_source[-self.marks :].any():
            # Nothing of the server's own rows is in it, so they need not be read.
            over_source, source = over_source[: -self.marks], source.workers()
            energies = None if energies is None else energies[: -self.marks]
        means = means_of_equals(over_source[None], energies)
        parts = [
            piece[means[0][1][0]].clone()
            if means and all_equal(piece, means[0][1])
            else _weighted_sum(over_source, piece)
            for piece in source.pieces()
        ]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def point(self, k: int) -> Tensor:
        """Point k itself, (d,), in the unit of the updates."""
        row = self.mixture[k]
        used = np.flatnonzero(row)
        if len(used) == 1 and row[used[0]] == 1.0:
            values = torch.cat([piece[used[0]] for piece in self.source.pieces()])
        else:
            values = self.combination(np.eye(self.n)[k])
        return self.unscaled(values)

    def products_with(self, vector: Tensor) -> Floats:
        """Inner products of the points with a vector (d,) of the unit of the updates, (m,)."""
        total, first = np.zeros(self.source.n), 0
        for piece in self.source.pieces():
            last = first + piece.shape[1]
            along = times_power_of_two(vector[first:last].to(piece), -self.exponent)
            total += (piece.double() @ along.double()).cpu().numpy()
            first = last
        products: Floats = self.mixture @ total
        return products

    def unscaled(self, values: Tensor) -> Tensor:
        """Coordinates in the unit of the updates, from those in the space's own."""
        return times_power_of_two(values, self.exponent)


def means_of_equals(
    coefficients: Floats, energies: Floats | None
) -> list[tuple[int, NDArray[np.int64]]]:
    """Which rows of (m, n) may be means of equal updates, by their norms, and of which updates."""
    if energies is None:
        return []
    used = coefficients != 0.0
    lowest = np.where(used, energies, np.inf).min(axis=1)
    highest = np.where(used, energies, -np.inf).max(axis=1)
    alike = (highest - lowest <= ROUNDING * highest) & (used.sum(axis=1) > 1)
    alike &= np.abs(coefficients.sum(axis=1) - 1.0) <= 1e-13 * coefficients.shape[1]
    return [(int(k), np.flatnonzero(used[k])) for k in np.flatnonzero(alike)]


def all_equal(piece: Tensor, rows: NDArray[np.int64]) -> bool:
    """Whether these rows of a piece are equal, to the last bit."""
    return all(torch.equal(piece[rows[0]], piece[k]) for k in rows[1:])


def _weighted_sum(weights: Floats, piece: Tensor) -> Tensor:
    if piece.device.type != "cpu":
        return torch.from_numpy(weights).to(piece) @ piece
    out = torch.empty(piece.shape[1], dtype=piece.dtype)
    rows, result = piece.numpy(), out.numpy()

    def chunk(start: int, stop: int) -> Any:
        _gram_kernels.weighted_sum(weights, rows, start, stop, result)

    over_chunks(chunk, piece.shape[1])
    return out
