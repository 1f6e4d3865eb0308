"""The worst update of the honest span that a search finds against the server's own rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from math import sqrt
from typing import ClassVar, get_args

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule
from wola.aggregation.source import Matrix
from wola.aggregation.space import Space
from wola.attacks._judge import Columns, Goal, Judge, needed_rule
from wola.attacks._line_search import line_search
from wola.attacks._span import Span, own_order, spanning_rows
from wola.attacks.alie import alie_factor
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_choice, check_whole
from wola.ground.generators import copied, given_generator, numpy_generator

#: Degrees by which updates are turned from the mean towards, and away from, honest deviations.
ANGLES = (60.0, 120.0)
#: Harms that differ by less, relatively, are ties up to rounding.
ROUNDING = 1e-9
#: Steps of the refinement, as shares of the distance to the mean: the first, the longest, and by
#: what a step that helped and one that did not change the next.
FIRST_STEP, LONGEST_STEP, LONGER, SHORTER = 0.5, 4.0, 1.5, 0.8


@dataclass(frozen=True)
class SpanSearch(ColludingAttack):
    r"""The worst update of the honest span that `evaluations` trials of the server's rule find.

    The attackers know the honest updates and the server's `rule`, with all that the server knows in
    this round. Each candidate b is a mixture of the honest updates and their standard deviation;
    R = rule(honest, f copies of b), and what is sent is the b with the largest ||R - mean|| (`goal`
    "distance") or the lowest <R, mean> ("ascent") of those met. With m the mean, r the spread
    (root mean square distance of an honest update to m) and l the root mean square length:

    * m + z std and -s m, z and s of either sign, by the search of `OptimalALIE`: a fifth of the
      evaluations each, which begin at the z of `ALIE`, at `FOE`, at `SignFlip` and at 0;
    * .. math:: l (\cos\phi\ \hat m \pm \sin\phi\ \hat d_i)

      with d_i the part of x_i - m orthogonal to m and an angle of 60, then 120 degrees, the workers
      farthest from m first, with three tenths of the evaluations;
    * a few random points at the distance r from m;
    * with what is left, steps around the worst candidate met: its distance to m times a random
      factor, and, in turn, a random direction of the span. Steps grow by half where they help and
      shrink by a fifth where they do not.

    The worst of each of these five kinds is then judged once more as the update that it makes.

    What a rule decides from inner products costs nothing that grows with d. A rule that treats
    coordinates alone is tried on `columns` of them, drawn in each round; only the last five are
    judged on all. Rules that look at the coordinates before they decide, such as `DnC`, `GAS` and
    `FoundationFL`, cost a pass over all of them in each trial.

    Candidates, columns and rule draw from copies of `generator`, which is needed and left as it
    was: pass the server's own and the attackers know the draw of a random rule. A round that the
    server will refuse whatever is sent is met with -m. The order of the workers decides nothing.
    What is worst in each round need not be worst for a run: on digits (NNM and trimmed mean, f = 6,
    alpha 0.3, one seed) accuracy was 41.9 % under "distance", 25.4 % under "ascent" and 27.9 %
    under `SignFlip`.

    Defaults: `evaluations`, `goal`, `columns`: ours.

    Needs: the server's rule.

    Cost: the server's rule `evaluations` times in Gram space, or on `columns` coordinates, and five
    times on all.

    Draws: candidates and columns.

    Reference: ours.

    >>> import torch
    >>> from wola.aggregation import CoordinateMedian
    >>> honest = torch.tensor([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> draw = torch.Generator().manual_seed(1)
    >>> sent = SpanSearch()(honest, f=2, rule=CoordinateMedian(), generator=draw)
    >>> CoordinateMedian()(torch.cat([honest, sent]), f=2)
    tensor([3., 1.])
    """

    scale_equivariant: ClassVar[bool] = True

    evaluations: int = 100
    goal: Goal = "distance"
    columns: int = 4096

    def __post_init__(self) -> None:
        check_whole("evaluations", self.evaluations, least=1)
        check_choice("goal", self.goal, get_args(Goal))
        check_whole("columns", self.columns, least=1)

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """The worst candidate found."""
        rule = needed_rule(rule, f"{self} searches against", n=seen.n, f=seen.f)
        given = given_generator(copied(generator), f"{self} draws candidates")
        draw = numpy_generator(given)
        base = spanning_rows(seen.honest)
        judge = Judge.of(seen, base, rule, generator)
        if judge.refused:
            return -judge.mean
        search = _Search(judge, self.goal, self.evaluations, self._columns(judge, draw))
        search.open(alie_factor(seen.n, seen.f), draw)
        search.refine(draw)
        finalists = search.finalists()
        return self._worst_sent(judge, finalists) if finalists else -judge.mean

    def _worst_sent(self, judge: Judge, candidates: Sequence[Floats]) -> Tensor:
        """The worst of a few candidates, judged as the server will see them, on all columns.

        Large coefficients that cancel are known to fewer digits than the update that they make: a
        rule may take for a tie what is none once it is sent.
        """
        space, h = Space(Matrix(judge.base)), judge.h
        rows = torch.stack([space.combination(candidate) for candidate in candidates])
        again = replace(judge, base=torch.cat([judge.base[:h], rows]))
        search = _Search(again, self.goal, len(rows), again.all_columns)
        for candidate in np.eye(h + len(rows))[h:]:
            search.look_at(candidate)
        return rows[search.met.index(_first_of_worst(search.met))]

    def _columns(self, judge: Judge, draw: np.random.Generator) -> Columns:
        d = judge.base.shape[1]
        chosen = np.sort(draw.choice(d, min(self.columns, d), replace=False, shuffle=False))
        return judge.some_columns(chosen) if len(chosen) < d else judge.all_columns


@dataclass(frozen=True, eq=False)
class _Met:
    """A candidate that was judged: its kind, its coefficients, and how much it harms."""

    kind: str
    candidate: Floats
    harm: float


@dataclass
class _Search:
    """The candidates met so far, at most `evaluations` of them.

    Rules without weights over workers are judged on `columns`.
    """

    judge: Judge
    goal: Goal
    evaluations: int
    columns: Columns
    met: list[_Met] = field(default_factory=list)

    @cached_property
    def span(self) -> Span:
        """The honest span; rows that the server has of its own are left out."""
        h = self.judge.h
        rows = np.append(np.arange(h + 1), -1)
        return Span(self.judge.space.products[np.ix_(rows, rows)], own_order(self.judge.base[:h]))

    @property
    def left(self) -> int:
        return self.evaluations - len(self.met)

    def look_at(self, candidate: Floats, kind: str = "") -> float:
        """How much a candidate harms, as a length; -inf if the server would drop it."""
        harm = -float("inf")
        if self.judge.is_kept(candidate):
            harm = self.judge.harm(self.judge.solved(candidate), self.goal, self.columns)
        if self.goal == "distance":
            harm = sqrt(harm) if harm >= 0 else harm
        self.met.append(_Met(kind, candidate, harm))
        return harm

    def open(self, z: float, draw: np.random.Generator) -> None:
        """ALIE's line and FOE's, tilts, and random points."""
        span, whole = self.span, self.evaluations
        self._along("alie", span.std, [z], max(1, whole // 5))
        against = span.against_mean()
        unit = span.length(against) / (span.length(span.mean) or 1.0)
        first = [(1.0 + s) / (unit or 1.0) for s in (0.1, 1.0, 0.0)]
        self._along("foe", against, first, whole // 5)
        for candidate in islice(self._tilts(), min(self.left, 3 * whole // 10)):
            self.look_at(candidate, "tilt")
        for _ in range(min(self.left, whole // 20)):
            step = span.drawn(span.spread, draw)
            if step is not None:
                self.look_at(span.mean + step, "random")

    def _along(self, kind: str, unit: Floats, first: Sequence[float], evaluations: int) -> None:
        """The search of `OptimalALIE` among mean + u `unit`."""

        def harm(u: float) -> float:
            return self.look_at(self.span.mean + u * unit, kind)

        if evaluations := min(evaluations, self.left):
            line_search(harm, evaluations, first)

    def _tilts(self) -> Iterator[Floats]:
        """Updates turned towards and away from honest deviations, the longest ones first."""
        for angle, deviation, side in product(ANGLES, self.span.deviations(), (1.0, -1.0)):
            candidate = self.span.tilted(side * deviation, angle)
            if candidate is not None:
                yield candidate

    def refine(self, draw: np.random.Generator) -> None:
        """Random steps around the worst candidate: in turn along its distance to the mean, and in
        a direction of the span. They shrink while none of them helps.
        """
        span, steps, turn = self.span, [FIRST_STEP, FIRST_STEP], 0
        while self.left:
            worst = _first_of_worst(self.met)
            offset = worst.candidate - span.mean
            if turn == 0:
                factor = 2.0 ** (steps[0] * draw.standard_normal())
                candidate = span.mean + factor * offset
            else:
                step = span.drawn(steps[1] * span.length(offset), draw)
                if step is None:
                    return
                candidate = worst.candidate + step
            helped = _is_higher(self.look_at(candidate, "refined"), worst.harm)
            steps[turn] = min(steps[turn] * (LONGER if helped else SHORTER), LONGEST_STEP)
            turn = 1 - turn

    def finalists(self) -> list[Floats]:
        """The worst candidate of each kind, those that the server would drop left out."""
        kinds = dict.fromkeys(one.kind for one in self.met)
        worst = [_first_of_worst([one for one in self.met if one.kind == kind]) for kind in kinds]
        return [one.candidate for one in worst if one.harm > -float("inf")]


def _is_higher(a: float, b: float) -> bool:
    return a > b + ROUNDING * abs(b) if b > -float("inf") else a > b


def _first_of_worst(met: Sequence[_Met]) -> _Met:
    """The one with the highest harm; of those equal up to rounding, the first."""
    worst = met[0]
    for one in met[1:]:
        if _is_higher(one.harm, worst.harm):
            worst = one
    return worst
