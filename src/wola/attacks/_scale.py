"""Powers of two that bring updates of any size to where squares neither overflow nor vanish."""

import numpy as np
import torch
from torch import Tensor

from wola.aggregation.products import Floats, row_energies
from wola.aggregation.source import times_power_of_two

#: Norms between 1/COMFORTABLE and COMFORTABLE keep their fourth powers, sums of them included.
COMFORTABLE = 2.0**130

#: A part of a vector that is shorter than this share of it is rounding alone.
ROUNDING = 1e-6


def exponent_of(peak: float) -> int:
    """The whole number e with 2^(e-1) <= peak < 2^e; 0 for 0.

    >>> exponent_of(0.0), exponent_of(1.0), exponent_of(1e300)
    (0, 1, 997)
    """
    return int(np.frexp(peak)[1])


def norms_and_peaks(rows: Tensor) -> tuple[Floats, Floats]:
    """Norm and largest absolute value of each row (n, d); infinite or NaN where a row is broken.

    Where squares are in their range the peaks are not needed, and are the norms themselves.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.sqrt(row_energies(rows))
        if np.isfinite(norms).all() and 1 / COMFORTABLE <= norms.max() <= COMFORTABLE:
            return norms, norms
        peaks: Floats = _peaks(rows)
        safe = np.where(np.isfinite(peaks) & (peaks > 0), peaks, 1.0)
        exponents = [exponent_of(peak) for peak in safe]
        for i, (peak, exponent) in enumerate(zip(peaks, exponents, strict=True)):
            if np.isfinite(peak):
                energy = row_energies(times_power_of_two(rows[i : i + 1], -exponent))[0]
                norms[i] = np.ldexp(np.sqrt(energy), exponent)
            else:
                norms[i] = peak
    return norms, peaks


def _peaks(rows: Tensor) -> Floats:
    if not rows.shape[1]:
        return np.zeros(len(rows))
    peaks: Floats = rows.abs().amax(dim=1).double().cpu().numpy()
    return peaks


def scaling(norms: Floats, peaks: Floats) -> int:
    """The exponent e by which rows with these norms and peaks are brought near 1: x 2^-e.

    It is 0, and nothing is scaled, where the largest norm is neither huge nor tiny.

    >>> scaling(np.array([1.0, 5.0]), np.array([1.0, 4.0]))
    0
    """
    largest = float(norms.max())
    if largest == 0.0 or 1 / COMFORTABLE <= largest <= COMFORTABLE:
        return 0
    return exponent_of(float(peaks.max()))


def unit(vector: Tensor) -> Tensor:
    """The vector (d,) divided by its norm, of whatever size; zeros stay zeros.

    >>> unit(torch.tensor([3e300, 4e300], dtype=torch.float64))
    tensor([0.6000, 0.8000], dtype=torch.float64)
    """
    peak = float(vector.abs().max()) if vector.numel() else 0.0
    near = times_power_of_two(vector, -exponent_of(peak))
    length = float(torch.linalg.vector_norm(near))
    return near / length if length > 0 else vector


def orthogonal(vector: Tensor, along: Tensor) -> Tensor:
    """The unit vector of the part of a vector orthogonal to a unit vector; 0 if there is none.

    >>> orthogonal(torch.tensor([5.0, -2.0]), torch.tensor([1.0, 0.0]))
    tensor([ 0., -1.])
    """
    size = float(torch.linalg.vector_norm(vector))
    part = vector - float(vector @ along) * along
    if not float(torch.linalg.vector_norm(part)) > ROUNDING * size:
        return torch.zeros_like(vector)
    # Once more: what rounding left of the direction itself.
    part = unit(part)
    return unit(part - float(part @ along) * along)
