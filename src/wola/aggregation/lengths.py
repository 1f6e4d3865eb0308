"""Lengths of combinations of the updates, found from their inner products."""

import numpy as np
import numpy.typing as npt

from wola.aggregation.products import Floats
from wola.aggregation.space import Space

#: How far what is added up in float64 may be off, relative to what was added.
ROUNDED = 2.0**-48


def squared_lengths(
    space: Space, coefficients: Floats, rounded: npt.ArrayLike = 0.0
) -> tuple[Floats, Floats]:
    """Squared lengths of combinations of the updates of a space's source, and their errors, (...).

    `coefficients` (..., n) are over the updates themselves, not over the space's points. A length
    that rounding cannot tell from 0 is 0. Combinations whose coefficients sum to 0, such as the
    difference of two averages, keep the digits in which the updates differ. `rounded` (..., n) or a
    number says how far the coefficients themselves may be off.
    """
    sums = coefficients.sum(axis=-1, keepdims=True)
    # Two averages differ by nothing that lies in the common part, whatever their weights round to.
    sums[np.abs(sums) <= ROUNDED * np.abs(coefficients).sum(axis=-1, keepdims=True)] = 0.0
    basis = np.concatenate([coefficients, sums], axis=-1)
    squares = ((basis @ space.products) * basis).sum(axis=-1)
    lengths = np.sqrt(np.maximum(space.products.diagonal(), 0.0))
    errors = space.rounding * (np.abs(basis) @ lengths) ** 2
    if np.any(rounded):
        reach = np.broadcast_to(rounded, coefficients.shape) @ (lengths[:-1] + lengths[-1])
        errors += reach * (2 * np.sqrt(np.maximum(squares, 0.0)) + reach)
    apart = squares > errors
    return squares * apart, errors * apart
