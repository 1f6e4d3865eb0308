"""Divide and conquer: remove what lies farthest out along the top direction of some columns."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np
from torch import Generator

from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule, Solution
from wola.aggregation.selection import smallest
from wola.aggregation.space import Space
from wola.aggregation.spectral_filter import EQUAL, recentred
from wola.ground.checks import check_number, check_whole
from wola.ground.generators import given_generator, numpy_generator


@dataclass(frozen=True)
class DnC(Rule):
    """Divide and conquer: the mean of what is no outlier in any of some samples of columns.

    `iterations` times: draw `columns` of the d columns, centre the updates there on their mean,
    and score each by s_i = <x_i - mean, v>^2, v the top right singular vector; the n - floor(c f)
    with the lowest scores are good. The result is the mean of those that are good every time; if
    there are none, of those that are good most often (our choice: others take the union, or give
    NaN). Scores tied at the edge share what is left, and an update that shares counts by the
    product of its shares. Where several directions share the top singular value, the length in
    all of them counts.

    The draw comes from the generator given with the call and does not depend on the order of the
    workers. With `columns=None`, or no fewer than d, all columns are taken and nothing is drawn;
    the attackers then know what the server sees.

    Accepts f < n/2 with floor(c f) < n. Near n/2, liars who spread widely carry the mean so far
    that one of them may lie nearer to it than those who agree.

    Defaults: `iterations`, `columns`: ours, of those of public code (1 or 5 iterations of 1,000 or
    10,000 columns), since with 5 of them at f near n/2 none may be good every time; `c`: public
    code.

    Cost: inner products over the drawn columns, O(n^2 columns) in each iteration, and one more pass
    over the updates.

    Draws: columns.

    Reference: V. Shejwalkar and A. Houmansadr, Manipulating the Byzantine: optimizing model
    poisoning attacks and defenses for federated learning, NDSS 2021.

    >>> import torch
    >>> DnC()(torch.tensor([[0.0], [1.0], [2.0], [60.0]]), f=1)
    tensor([1.])
    """

    iterations: int = 1
    columns: int | None = 10_000
    c: float = 1.0

    def __post_init__(self) -> None:
        check_whole("iterations", self.iterations, least=1)
        if self.columns is not None:
            check_whole("columns", self.columns, least=1)
        check_number("c", self.c, above=0)

    @property
    def needs_products(self) -> bool:  # type: ignore[override]
        """Inner products over all columns are used if nothing is drawn."""
        return self.columns is None

    def max_byzantine(self, n: int) -> int:
        """The largest f < n/2 for which floor(c f) updates can be removed."""
        return next((f for f in range((n - 1) // 2, 0, -1) if floor(self.c * f) < n), 0)

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """Equal weights on what is good every time; ties at the edge share."""
        good = space.n - floor(self.c * f)
        if good == space.n:
            return Solution(space, weights=np.full(space.n, 1.0 / space.n))
        kept = np.array([_kept(sample, good) for sample in self._samples(space, generator)])
        every_time = kept.prod(axis=0)
        if not every_time.any():
            votes = kept.sum(axis=0)
            every_time = (votes >= votes.max() - EQUAL).astype(float)
        return Solution(space, weights=every_time / every_time.sum())

    def _samples(self, space: Space, generator: Generator | None) -> list[Space]:
        if self.columns is None or self.columns >= space.columns:
            return [space]
        rng = numpy_generator(given_generator(generator, f"{self} draws columns"))
        draws = (
            rng.choice(space.columns, self.columns, replace=False, shuffle=False)
            for _ in range(self.iterations)
        )
        return space.restricted([np.sort(draw) for draw in draws])


def _kept(space: Space, good: int) -> Floats:
    """For each point 1 if it is good, 0 if not, between them if it shares a place, (n,)."""
    scores, errors = outlier_scores(space)
    return good * smallest(scores, good, errors)


def outlier_scores(space: Space) -> tuple[Floats, Floats]:
    """Squared lengths along the top singular vectors of the centred points, and their errors, (n,).

    With C the inner products seen from the mean and u its top eigenvector, s_i = (C u)_i^2 /
    lambda. A matrix that is off by E moves u by at most ||E|| over the gap to the next eigenvalue.
    """
    centred = recentred(space.centred_gram, np.full(space.n, 1.0 / space.n))
    values, vectors = np.linalg.eigh(centred)
    largest = float(values[-1])
    off = 4.0 * float(space.gram_errors.sum())
    if largest <= off:
        return np.zeros(space.n), np.zeros(space.n)
    at_top = values >= largest * (1 - EQUAL) - off
    lengths = np.linalg.norm(centred @ vectors[:, at_top], axis=1) / np.sqrt(largest)
    gap = largest - float(values[~at_top].max(initial=0.0))
    reach = off * (1.0 + largest / gap) / np.sqrt(largest)
    scores: Floats = lengths**2
    return scores, reach * (2.0 * lengths + reach)
