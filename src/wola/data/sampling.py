"""Whole counts from shares, and samples drawn from class pools."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]
EXHAUSTED = 1e-9


def whole_counts(shares: Shares, size: int) -> Counts:
    """Whole numbers next to ``size`` x ``shares`` (..., C) whose last axis sums to ``size``.

    The method of largest remainders; ties go to the lowest class. A share of 0 stays 0.

    >>> whole_counts(np.array([0.5, 0.26, 0.24]), 10)
    array([5, 3, 2])
    """
    exact = shares * size
    counts = np.floor(exact + EXHAUSTED).astype(np.int64)
    missing = size - counts.sum(axis=-1, keepdims=True)
    order = np.argsort(-(exact - counts), axis=-1, kind="stable")
    rank = np.argsort(order, axis=-1, kind="stable")
    rounded: Counts = counts + (rank < missing)
    return rounded


def class_pools(labels: Tensor, classes: int) -> list[Counts]:
    """The indices of the samples of each class, in order.

    >>> [pool.tolist() for pool in class_pools(torch.tensor([1, 0, 1]), classes=3)]
    [[1], [0, 2], []]
    """
    order = torch.argsort(labels, stable=True).cpu().numpy()
    ends = torch.bincount(labels, minlength=classes).cumsum(0).cpu().numpy()
    return np.split(order, ends[:-1])


def resample(pool: Counts, size: int, rng: np.random.Generator) -> Counts:
    """``size`` entries of ``pool`` in random order, each equally often up to one.

    Without repetition while the pool lasts (under-sampling), else every entry floor or ceil of
    size / len(pool) times (over-sampling).

    >>> np.sort(resample(np.array([4, 5]), 4, np.random.default_rng(0)))
    array([4, 4, 5, 5])
    """
    if size == 0:
        return pool[:0]
    whole, rest = divmod(size, len(pool))
    return rng.permutation(np.concatenate([np.tile(pool, whole), rng.permutation(pool)[:rest]]))


def deal(pools: list[Counts], counts: Counts, rng: np.random.Generator) -> list[Tensor]:
    """One index tensor per row of ``counts`` (n, C), each class pool resampled to its column sum.

    >>> shards = deal([np.array([0, 1]), np.array([2])], np.array([[1, 1], [1, 0]]),
    ...     np.random.default_rng(0))
    >>> [len(shard) for shard in shards]
    [2, 1]
    """
    cut = [
        np.split(resample(pool, int(column.sum()), rng), np.cumsum(column)[:-1])
        for pool, column in zip(pools, counts.T, strict=True)
    ]
    return [torch.from_numpy(np.sort(np.concatenate(parts))) for parts in zip(*cut, strict=True)]


def share_out(shares: Shares, stock: Counts, size: int) -> Counts:
    """Counts (n, C) next to ``size`` x ``shares``, rows summing to ``size``, columns within stock.

    A class that runs out is divided in proportion to the demands for it; what a worker then
    lacks it takes from the classes that are left, in proportion to its shares of them, or to the
    stock where it has no share of any. Needs n x size <= the sum of ``stock``.

    >>> share_out(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([3, 9]), 4)
    array([[2, 2],
           [1, 3]])
    """
    n = len(shares)
    quota, left, need = np.zeros_like(shares), stock.astype(np.float64), np.full(n, float(size))
    while need.max() > EXHAUSTED * size and left.max() > EXHAUSTED:
        wish = shares * (left > EXHAUSTED)
        nothing = wish.sum(axis=1) <= EXHAUSTED
        wish[nothing] = np.where(left > EXHAUSTED, left, 0.0)
        demand = need[:, None] * wish / wish.sum(axis=1, keepdims=True)
        total = demand.sum(axis=0)
        take = demand * np.minimum(1.0, np.divide(left, total, where=total > 0, out=total * 0))
        quota, left, need = quota + take, left - take.sum(axis=0), need - take.sum(axis=1)
    return _rounded_within(quota, stock, size)


def _rounded_within(quota: Shares, stock: Counts, size: int) -> Counts:
    counts = np.floor(quota + EXHAUSTED).astype(np.int64)
    left, need = stock - counts.sum(axis=0), size - counts.sum(axis=1)
    for flat in np.argsort(-(quota - counts), axis=None, kind="stable"):
        worker, label = divmod(int(flat), len(stock))
        if need[worker] > 0 and left[label] > 0:
            counts[worker, label] += 1
            need[worker] -= 1
            left[label] -= 1
    for row in np.flatnonzero(need):
        for column in np.flatnonzero(left):
            given = min(need[row], left[column])
            counts[row, column] += given
            need[row] -= given
            left[column] -= given
    return counts
