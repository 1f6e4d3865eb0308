"""HullGuard: workers with whom the gradients of the classes come out alike."""

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator

from wola.aggregation.coordinate_median import CoordinateMedian
from wola.aggregation.label_rule import LabelRule, class_estimates, reports_of
from wola.aggregation.lengths import squared_lengths
from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule, Solution
from wola.aggregation.selection import tie_classes
from wola.aggregation.space import Space
from wola.ground.checks import check_whole
from wola.ground.generators import given_generator

#: Numbers held at a time while the estimates of many subsets are compared.
BATCH = 2_000_000


@dataclass(frozen=True)
class HullGuard(LabelRule):
    r"""The n - f workers in whose company the gradients of the classes are estimated most alike.

    `subsets` times n - f workers are drawn, and from each subset `estimates` times 2C of them, C
    the number of classes. With x their updates and :math:`\pi` their reported label distributions
    each such draw S_k gives an estimate of one gradient for each class, and the subset a spread:

    .. math:: \hat G_k = \pi_{S_k}^+ x_{S_k}, \qquad
        v = \frac1K \sum_{k=1}^{K} \| \hat G_k - \bar G \|_F^2

    The score of a worker is the share of pairs of a subset with it and one without in which the
    one with it has the smaller spread. The n - f workers with the highest scores are kept and
    shuffled, and `rule` makes one update of the means of buckets of `bucket` workers.

    Needs n - f > 2C: else all estimates of a subset are the same, every spread is 0 up to rounding,
    and the scores mean nothing. So ten classes need more than 20 workers beside the Byzantine.
    Accepts f < n/2. Spreads are found in Gram space: one pass over the updates, whatever the number
    of subsets.

    Known from public code of 2026 alone, and not published as far as is known. From there are 1,000
    subsets of n - f, five estimates from 2C workers, the scores, and buckets with the
    coordinate-wise median at the end. The choices left open are ours: buckets of 2, pairs of equal
    spreads count half, a worker that is in all subsets or in none scores one half, `rule` is told
    as much of f as it accepts. All draws come from the generator given with the call. They go by
    the workers' names where the view has some, whatever the order of the rows; workers with equal
    scores at the edge are taken as drawn. Weights over the workers are known where `rule` has some,
    as with ``rule=Mean(), bucket=1``. Needs reports: ``HullGuard().at(View(labels=...))``.

    Defaults: `subsets`, `estimates`, `rule`: public code; `bucket`: ours.

    Cost: one pass over the updates for their inner products, O(n^2 d), whatever the number of
    subsets; then a pseudo-inverse of 2C reports for each estimate.

    Draws: subsets of the workers, and their order.

    Reference: public code of 2026; not published as far as is known.

    >>> import torch
    >>> from wola.aggregation import Mean, View
    >>> reports = torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.5, 0.5], [0.3, 0.7], [0.1, 0.9]] * 2)
    >>> updates = reports @ torch.tensor([[4.0, 0.0], [0.0, 4.0]])
    >>> updates[2] = -updates[2]
    >>> rule = HullGuard(rule=Mean(), bucket=1).at(View(labels=reports))
    >>> rule.weights(updates, f=1, generator=torch.Generator().manual_seed(1))
    tensor([0.1111, 0.1111, 0.0000, 0.1111, 0.1111, 0.1111, 0.1111, 0.1111, 0.1111,
            0.1111])
    """

    subsets: int = 1000
    estimates: int = 5
    bucket: int = 2
    rule: Rule = field(default_factory=CoordinateMedian)

    def __post_init__(self) -> None:
        check_whole("subsets", self.subsets, least=1)
        check_whole("estimates", self.estimates, least=2)
        check_whole("bucket", self.bucket, least=1)
        if not isinstance(self.rule, Rule):
            kind = type(self.rule).__name__
            raise TypeError(f"rule = {self.rule!r} is a {kind}; allowed: a Rule, such as Mean()")
        if self.rule.needs:
            raise ValueError(
                f"rule = {self.rule}; allowed: a rule that needs nothing of the server's"
            )

    def check_classes(self, n: int, f: int, classes: int) -> None:
        """Refuse where a subset has no more workers than an estimate takes."""
        if n - f <= 2 * classes:
            raise ValueError(
                f"HullGuard with C = {classes} classes needs n - f > 2 C = {2 * classes} workers, "
                f"since its estimates are from 2 C of n - f workers and must differ; n = {n}, "
                f"f = {f} leaves {n - f}"
            )

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """The rule over the buckets of the workers with the highest scores."""
        generator = given_generator(generator, f"{self} draws workers")
        ranks = _ranks_of_names(space)
        scores = self._scores(space, f, generator, ranks)
        shuffle = _uniform((space.n,), generator)[ranks]
        kept = np.lexsort((shuffle, -scores))[: space.n - f]
        kept = kept[np.argsort(shuffle[kept])]
        starts = range(0, len(kept), self.bucket)
        matrix = np.zeros((len(starts), space.n))
        for row, start in zip(matrix, starts, strict=True):
            members = kept[start : start + self.bucket]
            row[members] = 1.0 / len(members)
        told = min(f, self.rule.max_byzantine(len(matrix)))
        return self.rule.solve(space.mix(matrix), told, generator)

    def _scores(
        self, space: Space, f: int, generator: Generator, ranks: NDArray[np.intp]
    ) -> Floats:
        """The share of pairs in which the subset with each worker has the smaller spread, (n,)."""
        n, reports = space.n, reports_of(space)
        self.check_classes(n, f, reports.shape[1])
        if f == 0:
            return np.zeros(n)
        draws = _uniform((self.subsets, n), generator)[:, ranks]
        members = draws <= np.partition(draws, n - f - 1, axis=1)[:, n - f - 1 : n - f]
        size = self.estimates * n * reports.shape[1]
        at_once = max(1, BATCH // size)
        found = [
            self._spreads(space, reports, members[start : start + at_once], generator, ranks)
            for start in range(0, self.subsets, at_once)
        ]
        spreads, errors = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return shares_of_smaller(members, spreads, errors)

    def _spreads(
        self,
        space: Space,
        reports: Floats,
        members: NDArray[np.bool_],
        generator: Generator,
        ranks: NDArray[np.intp],
    ) -> tuple[Floats, Floats]:
        """The spread of the estimates from each subset (s, n), and how far it may be off, (s,)."""
        n, classes = reports.shape
        draws = _uniform((len(members), self.estimates, n), generator)[..., ranks]
        draws[np.broadcast_to(~members[:, None], draws.shape)] = np.inf
        # In the order of the draws, whatever the order of the rows.
        taken = np.argsort(draws, axis=-1)[..., : 2 * classes]
        inverses, rounded = class_estimates(reports[taken])
        estimates = np.zeros((*taken.shape[:2], classes, n))
        np.put_along_axis(estimates, taken[:, :, None, :], inverses, axis=-1)
        off = rounded[..., None, None] * np.abs(estimates)
        off += off.mean(axis=1, keepdims=True)
        estimates -= estimates.mean(axis=1, keepdims=True)
        over_source, off = estimates @ space.mixture, off @ np.abs(space.mixture)
        squares, errors = squared_lengths(space, over_source, off)
        spreads: Floats = squares.sum(axis=(1, 2)) / self.estimates
        reach: Floats = errors.sum(axis=(1, 2)) / self.estimates
        return spreads, reach


def shares_of_smaller(members: NDArray[np.bool_], spreads: Floats, errors: Floats) -> Floats:
    """For each worker the share of pairs of subsets, with it and without, where "with" is smaller.

    `members` (s, n) says who is in which subset, `spreads` (s,) may be off by `errors`. Pairs of
    equal spreads count half; a worker without pairs has one half.

    >>> members = np.array([[True, False], [True, False], [False, True]])
    >>> shares_of_smaller(members, np.array([1.0, 3.0, 2.0]), np.zeros(3))
    array([0.5, 0.5])
    """
    classes = tie_classes(spreads, errors)
    counts = np.bincount(classes)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[classes]
    with_it = members.sum(axis=0)
    pairs = with_it * (len(members) - with_it)
    larger = ranks @ members - with_it * (with_it + 1) / 2
    shares: Floats = 1.0 - np.where(pairs > 0, larger / np.maximum(pairs, 1), 0.5)
    return shares


def _ranks_of_names(space: Space) -> NDArray[np.intp]:
    """The place of each worker's name among all names in order, (n,)."""
    names = [str(name) for name in space.view.names(space.n)]
    return np.argsort(np.argsort(np.array(names), kind="stable"), kind="stable")


def _uniform(shape: tuple[int, ...], generator: Generator) -> Floats:
    draws = torch.rand(shape, generator=generator, dtype=torch.float64, device=generator.device)
    numbers: Floats = draws.cpu().numpy()
    return numbers
