"""Rules that search all subsets of n - f updates: minimum diameter and smallest eigenvalue."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Generator

from wola.aggregation.rule import GramRule, one_hot
from wola.aggregation.source import Updates
from wola.aggregation.space import Floats, Space
from wola.ground.checks import check_whole

#: Subsets looked at together: bounds the memory of a step.
BATCH = 4096


@dataclass(frozen=True)
class _SubsetRule(GramRule):
    def most_subsets(self) -> int:
        """How many subsets are searched at most before the rule refuses."""
        return 1_000_000

    def max_byzantine(self, n: int) -> int:
        """The largest f < n/2 for which the search ends in reasonable time."""
        allowed = (f for f in range((n - 1) // 2, 0, -1) if comb(n, f) <= self.most_subsets())
        return next(allowed, 0)

    def check(self, n: int, f: int) -> None:
        """Say how long the search would be where that is what forbids it."""
        f = check_whole("f", f, least=0)
        if f <= (n - 1) // 2 and f > self.max_byzantine(n):
            raise ValueError(
                f"{self} with n = {n} and f = {f} would search {comb(n, f):,} subsets, more than "
                f"{self.most_subsets():,}; allowed: f <= {self.max_byzantine(n)}"
            )
        super().check(n, f)


def _subsets(n: int, size: int) -> Iterator[NDArray[np.int64]]:
    every = combinations(range(n), size)
    while batch := list(islice(every, BATCH)):
        yield np.array(batch, dtype=np.int64).reshape(len(batch), size)


@dataclass(frozen=True)
class MinimumDiameterAveraging(_SubsetRule):
    """The mean of the n - f updates that lie closest together: the subset of least diameter.

    Searches all subsets and refuses above 1,000,000 of them; ties go to the lexicographically
    first. Accepts f < n/2. Reference: E. M. El Mhamdi, R. Guerraoui, A. Guirguis, L. N. Hoang
    and S. Rouault, Genuinely distributed Byzantine machine learning, PODC 2020.

    >>> import torch
    >>> MinimumDiameterAveraging()(torch.tensor([[0.0], [9.0], [1.0], [2.0]]), f=1)
    tensor([1.])
    """

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the subset of least diameter."""
        distances = space.squared_distances
        best, chosen = np.inf, np.arange(space.n)
        for subsets in _subsets(space.n, space.n - f):
            inside = distances[subsets[:, :, None], subsets[:, None, :]]
            diameters = inside.max(axis=(1, 2))
            k = int(diameters.argmin())
            if diameters[k] < best:
                best, chosen = float(diameters[k]), subsets[k]
        return one_hot(space.n, chosen)


@dataclass(frozen=True)
class SMEA(_SubsetRule):
    """The mean of the n - f updates whose covariance has the smallest largest eigenvalue.

    Smallest maximum eigenvalue averaging. Searches all subsets and refuses above 200,000 of
    them; ties go to the lexicographically first. Accepts f < n/2. Reference: Y. Allouah, R.
    Guerraoui, N. Gupta, R. Pinot and J. Stephan, On the privacy-robustness-utility trilemma in
    distributed learning, ICML 2023.

    >>> import torch
    >>> SMEA()(torch.tensor([[0.0], [9.0], [1.0], [2.0]]), f=1)
    tensor([1.])
    """

    def most_subsets(self) -> int:
        """How many subsets are searched at most before the rule refuses."""
        return 200_000

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the subset whose covariance is smallest in its worst direction."""
        gram = space.centred_gram
        best, chosen = np.inf, np.arange(space.n)
        for subsets in _subsets(space.n, space.n - f):
            inside = gram[subsets[:, :, None], subsets[:, None, :]]
            rows = inside.mean(axis=2, keepdims=True)
            centred = inside - rows - rows.transpose(0, 2, 1) + rows.mean(axis=1, keepdims=True)
            largest = np.linalg.eigvalsh(centred)[:, -1]
            k = int(largest.argmin())
            if largest[k] < best:
                best, chosen = float(largest[k]), subsets[k]
        return one_hot(space.n, chosen)


def minimum_diameter_averaging(updates: Updates, f: int, generator: Generator | None = None) -> Any:
    """The mean of the closest n - f updates, (d,): see `MinimumDiameterAveraging`.

    >>> import torch
    >>> minimum_diameter_averaging(torch.tensor([[1.0], [1.5], [8.0]]), f=1)
    tensor([1.2500])
    """
    return MinimumDiameterAveraging()(updates, f, generator)


def smea(updates: Updates, f: int, generator: Generator | None = None) -> Any:
    """Smallest maximum eigenvalue averaging of the updates, (d,): see `SMEA`.

    >>> import torch
    >>> smea(torch.tensor([[1.0], [1.5], [8.0]]), f=1)
    tensor([1.2500])
    """
    return SMEA()(updates, f, generator)
