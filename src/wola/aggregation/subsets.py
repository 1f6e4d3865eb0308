"""What rules that search all subsets of n - f updates share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.selection import smallest
from wola.ground.checks import check_whole

#: Subsets looked at together: bounds the memory of a step.
BATCH = 4096

Scores = Callable[[NDArray[np.int64]], tuple[npt.ArrayLike, npt.ArrayLike]]


@dataclass(frozen=True)
class SubsetRule(GramRule):
    """A rule that looks at every subset of n - f updates, and refuses where they are too many."""

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


def subsets(n: int, size: int) -> Iterator[NDArray[np.int64]]:
    """All subsets of `size` of n rows in lexicographic order, in batches: arrays (k, size)."""
    every = combinations(range(n), size)
    while batch := list(islice(every, BATCH)):
        yield np.array(batch, dtype=np.int64).reshape(len(batch), size)


def mean_of_best(n: int, size: int, scores: Scores) -> Floats:
    """The weights over n rows of the mean of the subset with the lowest score, (n,).

    `scores` gives the scores of a batch of subsets (k, size) and how far each may be off. The
    weights of tied subsets are averaged: each of t tied ones counts 1/t.
    """
    best = np.inf
    kept: list[tuple[Floats, Floats, NDArray[np.int64]]] = []
    for batch in subsets(n, size):
        values, errors = (np.broadcast_to(a, len(batch)).astype(float) for a in scores(batch))
        best = min(best, float((values + errors).min()))
        near = values - errors <= best
        kept.append((values[near], errors[near], batch[near].astype(np.min_scalar_type(n))))
    values, errors = (np.concatenate([part[k] for part in kept]) for k in (0, 1))
    members = np.concatenate([part[2] for part in kept])
    shares = np.repeat(smallest(values, 1, errors), size)
    return np.bincount(members.ravel(), weights=shares, minlength=n) / size
