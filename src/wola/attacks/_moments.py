"""Mean and standard deviation of the honest updates, in one pass of cache-sized column blocks."""

from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wola.aggregation.columns import over_chunks
from wola.aggregation.compiled import compiled

Array = NDArray[Any]

#: Columns of a block: its rows and its float64 totals stay in the first-level cache.
BLOCK = 512

_exact = compiled
_sums = partial(compiled, fastmath={"reassoc", "contract", "nsz"})


@_exact
def _add(a: Array, total: Array) -> None:
    for j in range(total.shape[0]):
        total[j] += np.float64(a[j])


@_exact
def _add_4(a: Array, b: Array, c: Array, e: Array, total: Array) -> None:
    for j in range(total.shape[0]):
        left = np.float64(a[j]) + np.float64(b[j])
        total[j] += left + (np.float64(c[j]) + np.float64(e[j]))


@_exact
def _add_squares(a: Array, mean: Array, total: Array) -> None:
    for j in range(total.shape[0]):
        u = np.float64(a[j]) - mean[j]
        total[j] += u * u


@_exact
def _add_squares_4(a: Array, b: Array, c: Array, e: Array, mean: Array, total: Array) -> None:
    for j in range(total.shape[0]):
        m = mean[j]
        u = np.float64(a[j]) - m
        v = np.float64(b[j]) - m
        w = np.float64(c[j]) - m
        x = np.float64(e[j]) - m
        total[j] += (u * u + v * v) + (w * w + x * x)


@_exact
def _scale(values: Array, by: float) -> None:
    for j in range(values.shape[0]):
        values[j] *= by


@_exact
def _store_mean(mean: Array, a: float, out: Array) -> None:
    for j in range(out.shape[0]):
        out[j] = a * mean[j]


@_exact
def _store_both(mean: Array, variance: Array, a: float, b: float, out: Array) -> None:
    for j in range(out.shape[0]):
        out[j] = a * mean[j] + b * np.sqrt(variance[j])


@_exact
def combine_moments(x: Array, a: float, b: float, start: int, stop: int, out: Array) -> None:
    """Write a mean + b std of each of the columns start..stop-1 of x (n, d) to `out` (d,)."""
    n = x.shape[0]
    means = np.empty(BLOCK, np.float64)
    variances = np.empty(BLOCK, np.float64)
    for s in range(start, stop, BLOCK):
        e = min(s + BLOCK, stop)
        mean, variance = means[: e - s], variances[: e - s]
        mean[:] = 0.0
        i = 0
        while i + 4 <= n:
            _add_4(x[i, s:e], x[i + 1, s:e], x[i + 2, s:e], x[i + 3, s:e], mean)
            i += 4
        while i < n:
            _add(x[i, s:e], mean)
            i += 1
        _scale(mean, 1.0 / n)
        if b == 0.0:
            _store_mean(mean, a, out[s:e])
            continue
        variance[:] = 0.0
        i = 0
        while i + 4 <= n:
            _add_squares_4(x[i, s:e], x[i + 1, s:e], x[i + 2, s:e], x[i + 3, s:e], mean, variance)
            i += 4
        while i < n:
            _add_squares(x[i, s:e], mean, variance)
            i += 1
        _scale(variance, 1.0 / n)
        _store_both(mean, variance, a, b, out[s:e])


@_sums
def _squared_distance(a: Array, b: Array) -> float:
    total = 0.0
    for j in range(a.shape[0]):
        u = np.float64(a[j]) - np.float64(b[j])
        total += u * u
    return total


def mean_and_std(x: Tensor, a: float, b: float) -> Tensor:
    """a mean + b std of each column of x (n, d), (d,): population std, added up in float64."""
    if x.device.type != "cpu":
        values = x.double()
        std = values.std(dim=0, correction=0) if b else 0.0
        return (a * values.mean(dim=0) + b * std).to(x.dtype)
    out = torch.empty(x.shape[1], dtype=x.dtype)
    rows, result = x.numpy(), out.numpy()
    over_chunks(lambda s, e: combine_moments(rows, a, b, s, e, result), x.shape[1])
    return out


def squared_distance(a: Tensor, b: Tensor) -> float:
    """Sum of (a_j - b_j)^2 over two vectors (d,), in float64."""
    if a.device.type != "cpu":
        return float((a.double() - b.double()).square().sum())
    return float(_squared_distance(a.numpy(), b.numpy()))
