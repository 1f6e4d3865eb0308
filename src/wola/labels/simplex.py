"""Vectors that are, or are made into, probability distributions over classes."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

TOLERANCE = 1e-6

Vector: TypeAlias = Tensor | np.ndarray[Any, Any] | Sequence[float]
Distributions: TypeAlias = (
    Tensor | np.ndarray[Any, Any] | Sequence[Tensor] | Sequence[Sequence[float]]
)


def real_tensor(value: Vector | Distributions, *, ndim: int, name: str) -> Tensor:
    """``value`` as a detached tensor of real numbers with ``ndim`` dimensions, dtype kept."""
    tensors = isinstance(value, list | tuple) and value and isinstance(value[0], Tensor)
    try:
        if isinstance(value, Tensor):
            tensor = value.detach()
        elif tensors:
            tensor = torch.stack([torch.as_tensor(row).detach() for row in value])
        else:
            tensor = torch.tensor(np.asarray(value))
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"{name} must be a tensor, array or sequence of numbers, got {value!r}"
        ) from error
    if tensor.dtype == torch.bool or tensor.is_complex():
        raise TypeError(f"{name} must hold real numbers, got dtype {tensor.dtype}")
    if tensor.ndim != ndim:
        raise ValueError(
            f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, got shape {tuple(tensor.shape)}"
        )
    return tensor


def is_distribution(rows: Tensor) -> Tensor:
    """Which rows (..., C) are finite, non-negative and sum to 1 within 1e-6: a mask (...,)."""
    usable = rows.isfinite().all(-1) & (rows >= 0).all(-1)
    return usable & ((rows.sum(-1) - 1).abs() <= TOLERANCE)


def check_distribution(q: Vector, classes: int | None = None, *, name: str = "q") -> Tensor:
    """The distribution ``q`` (C,) in float64, or an error that says what is wrong with it.

    A distribution is a vector of finite, non-negative numbers that sum to 1 within 1e-6; with
    ``classes`` given it has that many entries. The values come back as they were given, not
    rescaled. ``name`` is what the error calls the argument.

    >>> check_distribution([0.25, 0.75])
    tensor([0.2500, 0.7500], dtype=torch.float64)
    >>> check_distribution([0.5, 0.75], name="prior")
    Traceback (most recent call last):
    ...
    ValueError: prior must sum to 1 within 1e-06, got [0.5, 0.75] with sum 1.25
    """
    vector = real_tensor(q, ndim=1, name=name).to(torch.float64)
    if classes is not None and len(vector) != classes:
        raise ValueError(
            f"{name} must have one entry for each of {classes} classes, got {len(vector)} entries"
        )
    if len(vector) == 0:
        raise ValueError(f"{name} must have at least one entry, got an empty vector")
    values = vector.tolist()
    if not bool(vector.isfinite().all()):
        raise ValueError(f"{name} must be finite, got {values}")
    if bool((vector < 0).any()):
        raise ValueError(f"{name} must be non-negative, got {values}")
    if not bool(is_distribution(vector)):
        raise ValueError(
            f"{name} must sum to 1 within {TOLERANCE}, got {values} with sum {sum(values):.9g}"
        )
    return vector


def check_distributions(rows: Distributions, *, name: str) -> Tensor:
    """The rows (n, C) in float64 with n and C at least 1, each one a distribution."""
    matrix = check_reports(rows, name=name)
    bad = (~is_distribution(matrix)).nonzero().flatten().tolist()
    if bad:
        raise ValueError(
            f"{name} must have distributions as rows (finite, non-negative, sum 1 within "
            f"{TOLERANCE}), got row {bad[0]} = {matrix[bad[0]].tolist()}"
        )
    return matrix


def check_reports(rows: Distributions, *, name: str) -> Tensor:
    """The rows (n, C) in float64 with n and C at least 1, whatever their values are."""
    matrix = real_tensor(rows, ndim=2, name=name).to(torch.float64)
    if 0 in matrix.shape:
        raise ValueError(
            f"{name} must have at least one row and one class, got shape {tuple(matrix.shape)}"
        )
    return matrix


def total_variation(p: Vector, q: Vector) -> float:
    r"""Total-variation distance of two distributions (C,): half the L1 norm of their difference.

    .. math:: TV(p, q) = \tfrac12 \sum_{c=1}^{C} |p^c - q^c| \in [0, 1]

    >>> total_variation([1.0, 0.0], [0.75, 0.25])
    0.25
    """
    left = check_distribution(p, name="p")
    right = check_distribution(q, len(left), name="q")
    return float((left - right.to(left.device)).abs().sum() / 2)


def nearest_distribution(vector: Vector) -> Tensor:
    r"""Euclidean projection of a vector (C,) onto the probability simplex, in float64.

    .. math:: \arg\min_{q \ge 0,\ \sum_c q^c = 1} \|q - v\|_2 = \max(v - \theta, 0)

    with the one threshold :math:`\theta` that makes the sum 1, found from the sorted entries.
    The projection never moves a vector away from any distribution. Reference: Held, Wolfe and
    Crowder, *Validation of subgradient optimization*, Mathematical Programming, 1974.

    >>> nearest_distribution([0.75, 0.5, -1.0])
    tensor([0.6250, 0.3750, 0.0000], dtype=torch.float64)
    """
    values = _finite(vector)
    # The threshold is the same for v and v - max(v) up to a shift, and there nothing overflows.
    shifted = values - values.max()
    falling = shifted.sort(descending=True).values
    ranks = torch.arange(1, len(values) + 1, dtype=torch.float64, device=values.device)
    thresholds = (falling.cumsum(0) - 1) / ranks
    support = int((falling > thresholds).sum())
    return _unit_sum((shifted - thresholds[support - 1]).clamp(min=0))


def rescaled_distribution(vector: Vector) -> Tensor:
    r"""A vector (C,) clipped at 0 and divided by its sum, in float64.

    .. math:: q^c = \max(v^c, 0) / \sum_{k} \max(v^k, 0)

    It keeps the ratios between classes and leaves a distribution as it is to rounding, which is
    why estimates by coordinate-wise rules go through it. Where no entry is positive there are no
    ratios to keep, and the answer is the Euclidean projection :func:`nearest_distribution`: the
    uniform distribution for the zero vector.

    >>> rescaled_distribution([0.25, 0.5, -0.125])
    tensor([0.3333, 0.6667, 0.0000], dtype=torch.float64)
    >>> rescaled_distribution([0.0, 0.0])
    tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    values = _finite(vector)
    largest = values.max()
    if largest <= 0:
        return nearest_distribution(values)
    # Dividing by the largest entry first keeps subnormal and huge entries from losing the sum.
    return _unit_sum((values / largest).clamp(min=0))


def _finite(vector: Vector) -> Tensor:
    values = real_tensor(vector, ndim=1, name="vector").to(torch.float64)
    if len(values) == 0 or not bool(values.isfinite().all()):
        raise ValueError(f"vector must be finite with at least one entry, got {values.tolist()}")
    return values


def _unit_sum(values: Tensor) -> Tensor:
    return values / values.sum()
