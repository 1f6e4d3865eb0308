"""BOBA: honest updates lie in the plane that one gradient per class spans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from wola.aggregation.products import Floats
from wola.aggregation.rule import At, GramRule
from wola.aggregation.selection import smallest
from wola.aggregation.source import Matrix, Updates, as_matrix
from wola.aggregation.space import Space
from wola.aggregation.spectral_filter import EQUAL
from wola.aggregation.view import View
from wola.ground.checks import check_number, check_whole

#: How far the smallest part of an estimated label mix may be off by rounding.
MIX_ERROR = 1e-9


@dataclass(frozen=True)
class Plane:
    """An affine plane through weighted rows: their mean, and the directions of most variance.

    Directions that tie with the last one in variance are all taken, as nothing tells them apart.

    `centre` (N,) are the weights of the mean, `basis` (r, N) those of the directions, `places`
    (N, r) the coordinates of all rows in it, `squares` (N,) their squared distances to it.
    """

    centre: Floats
    basis: Floats
    places: Floats
    squares: Floats

    @classmethod
    def through(cls, gram: Floats, weights: Floats, dimensions: int) -> Plane:
        """The plane from inner products (N, N) and weights (N,) that sum to 1."""
        towards = gram @ weights
        centred = gram - towards[:, None] - towards[None, :] + weights @ towards
        roots = np.sqrt(weights)
        values, vectors = np.linalg.eigh(roots[:, None] * centred * roots[None, :])
        used = np.count_nonzero(weights)
        real = values > 8 * used * np.finfo(np.float64).eps * max(values[-1], 0.0)
        real &= values >= values[-min(dimensions, len(values))] * (1 - EQUAL)
        basis = (vectors[:, real] * roots[:, None] / np.sqrt(values[real])).T
        places = centred @ basis.T
        squares = np.maximum(centred.diagonal() - (places * places).sum(axis=1), 0.0)
        return cls(weights, basis, places, squares)

    def point(self, place: Floats) -> Floats:
        """The weights (N,) over the rows that give the point with these coordinates (r,)."""
        along = place @ self.basis
        weights: Floats = along + self.centre * (1.0 - along.sum())
        return weights


@dataclass(frozen=True)
class BOBA(GramRule):
    r"""The middle of the updates that, seen in the plane of the classes, are mixes of them.

    The server has one row for each of C classes. First a plane of C - 1 dimensions through these
    rows is fitted to the n - f updates nearest to it, again and again until they stay the same (at
    most `iterations` times). Then every update, projected into the plane, is written as a mix of
    the server's rows, :math:`P = [Z\ 1] [T\ 1]^+`. Kept are those whose smallest part is at least
    `least`, or, if these are fewer than n - f, the n - f with the largest smallest part; the
    aggregate is the point of the plane with the mean coordinates of the kept. What is tied at an
    edge shares; directions that tie for the last place in the plane are all taken.

    The weights are over the updates that the plane was fitted to: they give the aggregate again and
    do not tell who was kept; :meth:`mixes` gives P, an estimate of each worker's label mix. Accepts
    f < n/2 with n - f >= C, C >= 2. With n - f < 2 C the plane fits nearly any choice. Needs a
    reference with rows for all classes: ``BOBA().at(View(reference))``.

    Defaults: `least`, `iterations`: its authors' public code, which has 10 samples for each class
    and calls `least` p_min; it is negative.

    Cost: one pass over the updates and the C rows of the server for their inner products, O((n +
    C)^2 d), and the gradients of these rows.

    Reference: W. Bao, J. Wu and J. He, BOBA: Byzantine-robust federated learning with label
    skewness, AISTATS 2024.

    >>> import torch
    >>> from wola.aggregation import ReferenceRows, View
    >>> server = View(ReferenceRows(classes=torch.tensor([[1.0, 0.0], [0.0, 1.0]])))
    >>> updates = torch.tensor([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9], [40.0, 40.0]])
    >>> BOBA().at(server)(updates, f=1).round(decimals=4)
    tensor([0.5000, 0.5000])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"classes"})

    least: float = -0.5
    iterations: int = 20

    def __post_init__(self) -> None:
        check_number("least", self.least)
        check_whole("iterations", self.iterations, least=1)

    def check_classes(self, n: int, f: int, classes: int) -> None:
        """Refuse fewer workers beside the Byzantine than there are classes."""
        if classes < 2 or n - f < classes:
            raise ValueError(
                f"{self} with C = {classes} classes needs C >= 2 and n - f >= C workers; "
                f"n = {n}, f = {f} leaves {n - f}"
            )

    def landmarks(self, view: View) -> Tensor:
        """The server's row of each class, (C, d)."""
        return view.known.classes()

    def weigh(self, space: Space, f: int) -> Floats:
        """The point of the plane with the mean coordinates of the kept, as weights."""
        plane, mixes = self._fitted(space, f)
        lows = mixes.min(axis=1)
        count = space.n - f
        errors = MIX_ERROR * (1.0 + np.abs(lows))
        if np.partition(lows, f)[f] > self.least:
            kept = (lows >= self.least - errors).astype(np.float64)
            kept /= kept.sum()
        else:
            kept = smallest(-lows, count, errors)
        return plane.point(kept @ plane.places[: space.n])[: space.n]

    def mixes(self, updates: Updates, f: int, view: View) -> Floats:
        """The estimated label mix of each worker, (n, C): rows sum to 1; NaN for dropped ones."""
        matrix = as_matrix(updates)
        space, source, remaining = At(self, view).opened(Matrix(matrix), f)
        _, found = self._fitted(space, remaining)
        mixes: Floats = np.full((len(matrix), space.marks), np.nan)
        mixes[source.rows[: space.n]] = found
        return mixes

    def _fitted(self, space: Space, f: int) -> tuple[Plane, Floats]:
        n, classes = space.n, space.marks
        self.check_classes(n, f, classes)
        count = n - f
        rows = space.with_marks
        gram, errors = rows.centred_gram, rows.gram_errors[:n]
        weights = np.append(np.zeros(n), np.full(classes, 1.0 / classes))
        plane = Plane.through(gram, weights, classes - 1)
        for _ in range(self.iterations):
            nearest = smallest(plane.squares[:n], count, errors)
            if np.array_equal(nearest, weights[:n]):
                break
            weights = np.append(nearest, np.zeros(classes))
            plane = Plane.through(gram, weights, classes - 1)
        corners = np.column_stack([plane.places[n:], np.ones(classes)])
        found: Floats = np.column_stack([plane.places[:n], np.ones(n)]) @ np.linalg.pinv(corners)
        return plane, found
