"""The first pass over the updates: drop what is not finite, collect norms and inner products."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from wola.aggregation.products import Floats, centred_products, rounding, row_energies
from wola.aggregation.source import Scaled, UpdateSource
from wola.aggregation.space import Space
from wola.aggregation.view import NOTHING_KNOWN, View

#: Squared norms between 2^-400 and 2^400 need no scaling: their squares stay in float64's range.
LARGEST_ENERGY = 2.0**400
#: Where updates are scaled, one that is 2^400 times as large as the middle one is dropped.
LARGEST_RATIO = 2.0**400


class TooFewUpdates(ValueError):
    """Raised when so many updates were dropped as non-finite that the rule cannot be applied."""


@dataclass(frozen=True)
class _Pass:
    """What one pass found: squared norms (n,), products, the largest number, how many columns."""

    energies: Floats
    products: Floats
    largest: float
    columns: int


def open_space(
    source: UpdateSource,
    f: int,
    needs_products: bool,
    *,
    marks: int = 0,
    view: View = NOTHING_KNOWN,
) -> tuple[Space, UpdateSource, int]:
    """One pass: drop what is not finite, collect inner products; the space, and what f is then.

    An update is dropped if it holds a NaN or an infinity or if its Euclidean norm overflows its
    dtype. Updates in float64 whose squares would overflow or vanish (norms beyond 2^200 or below
    2^-200, about 1e60 and 1e-60) are read once more, scaled by the power of two that brings the
    middle one to 1; an update more than 2^400 (about 1e120) times as large as the middle one is
    then dropped too, and what is 2^-500 times as small is zero to the rule. The last `marks` rows
    are the server's: one that is not finite is a ValueError, and one that is huge sets the scale.
    """
    given, whole = source.n - marks, source.n
    found = _look(source, needs_products)
    exponent = 0
    if found.largest > LARGEST_ENERGY and _is_extreme(found.energies):
        sizes = _magnitudes(source)
        middle = _size_to_scale_by(sizes, found.energies)
        if middle is not None:
            own = float(sizes[given:].max(initial=0.0))
            middle = max(middle, own / LARGEST_RATIO) if np.isfinite(own) else middle
            with np.errstate(over="ignore"):
                fine = np.flatnonzero(sizes <= LARGEST_RATIO * middle)
            # A worker that is dropped must not change the unit in which the others are seen.
            if _size_to_scale_by(sizes[fine], found.energies[fine]) is not None:
                exponent = int(np.frexp(middle)[1])
            _check_marks(fine, source.n, marks)
            source = Scaled(source if len(fine) == whole else source.keep(fine), exponent)
            found = _look(source, needs_products)
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.ldexp(np.sqrt(found.energies), exponent)
        kept = np.flatnonzero(np.isfinite(found.energies) & (norms <= found.largest))
    _check_marks(kept, source.n, marks)
    if len(kept) == marks:
        raise TooFewUpdates(_nothing_left(given))
    products = found.products
    if len(kept) < source.n:
        with_centre = np.append(kept, source.n)
        products = products[np.ix_(with_centre, with_centre)]
        source = source.keep(kept)
    known = products if needs_products else None
    slack = rounding(source.n, found.columns)
    points = np.eye(len(kept) - marks, len(kept)) if marks else None
    space = Space(source, points, known, found.energies[kept], exponent, slack, found.columns)
    seen = view if len(kept) == whole else view.of_rows(source.rows[: len(kept) - marks])
    space = replace(space, marks=marks, view=seen)
    return space, source, max(0, f - (whole - len(kept)))


def _check_marks(kept: NDArray[np.int64], n: int, marks: int) -> None:
    if np.count_nonzero(kept >= n - marks) < marks:
        raise ValueError(
            "the server's own rows (reference or memory) are not finite, or their norm overflows"
        )


def _nothing_left(given: int) -> str:
    return f"all {given} updates are non-finite: nothing is left to aggregate"


def _look(source: UpdateSource, needs_products: bool) -> _Pass:
    energies = np.zeros(source.n)
    products = np.zeros((source.n + 1, source.n + 1))
    largest, columns = float("inf"), 0
    with np.errstate(over="ignore", invalid="ignore"):
        for piece in source.pieces():
            largest = torch.finfo(piece.dtype).max
            columns += piece.shape[1]
            found = centred_products(piece) if needs_products else None
            if found is not None and np.isfinite(found).all():
                products += found
                found_energies = found.diagonal()[:-1] + 2 * found[-1, :-1] + found[-1, -1]
                energies += np.maximum(found_energies, 0.0)
                continue
            energies += row_energies(piece)
            fine = np.flatnonzero(np.isfinite(energies))
            if needs_products and len(fine):
                with_centre = np.append(fine, source.n)
                rows = piece[torch.from_numpy(fine)]
                products[np.ix_(with_centre, with_centre)] += centred_products(rows)
    return _Pass(energies, products, largest, columns)


def _is_extreme(energies: Floats) -> bool:
    # One comparison answers for NaN too: it is not within anything.
    within = (energies >= 1 / LARGEST_ENERGY) & (energies <= LARGEST_ENERGY)
    return not within.all()


def _magnitudes(source: UpdateSource) -> Floats:
    """The largest absolute value of each row, (n,): NaN or infinite where one of its values is."""
    sizes = np.zeros(source.n)
    for piece in source.pieces():
        if piece.shape[1]:
            lowest, highest = torch.aminmax(piece, dim=1)
            sizes = np.maximum(sizes, torch.maximum(-lowest, highest).cpu().numpy())
    return sizes


def _size_to_scale_by(sizes: Floats, energies: Floats) -> float | None:
    """The size of the middle one of the rows that are finite and not zero, if one needs scaling."""
    real = np.isfinite(sizes) & (sizes > 0.0)
    if not real.any() or not _is_extreme(energies[real]):
        return None
    ranked = np.sort(sizes[real])
    return float(ranked[(len(ranked) - 1) // 2])
