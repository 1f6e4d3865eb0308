"""A deterministic search along a line, on both sides of a centre, that counts what it costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt

#: Where a rule that goes by distances lets go of the attackers: near the unit. The last one tells
#: whether there is an end at all.
OPENING = tuple(side * u for u in (1.0, 0.7, 1.5, 4.0, 2.0**20) for side in (1.0, -1.0))
#: By how much a score may be expected to grow between two points, at most.
GROWTH = 1.5
#: Scores that differ by less, relatively, are ties up to rounding.
ROUNDING = 1e-9


@dataclass
class _Budget:
    """A function to maximise, evaluated at most `evaluations` times, never twice at one point."""

    score: Callable[[float], float]
    evaluations: int
    met: dict[float, float] = field(default_factory=dict)

    @property
    def left(self) -> bool:
        return len(self.met) < self.evaluations

    def look_at(self, point: float) -> None:
        if self.left and point not in self.met:
            self.met[point] = self.score(point)

    def best(self) -> float:
        """The point with the highest score met; of those equal up to rounding, the first."""
        found, *others = self.met
        for point in others:
            if _higher(self.met[point], self.met[found]):
                found = point
        return found

    def most_promising(self) -> float | None:
        """The next point to look at: see `line_search`; None if no new one is left."""
        promises = [*self._promises(1.0), *self._promises(-1.0)]
        new = [(promise, point) for promise, point in promises if point not in self.met]
        if not new:
            return None
        best = new[0]
        for other in new[1:]:
            if _higher(other[0], best[0]):
                best = other
        return best[1]

    def _promises(self, side: float) -> list[tuple[float, float]]:
        near = sorted(abs(point) for point in self.met if side * point > 0)
        if not near:
            return []
        scores = [max(self.met[side * u], 0.0) for u in near]
        found = [(scores[0], side * near[0] / 2)]
        for a, b, score in zip(near, near[1:], scores, strict=False):
            between = 2 * a if b > 4 * a else sqrt(a) * sqrt(b)
            found.append((score * min(b / a, GROWTH), side * between))
        return found


def _higher(a: float, b: float) -> bool:
    return a > b + ROUNDING * abs(b) if b > -float("inf") else a > b


def line_search(score: Callable[[float], float], evaluations: int, first: Sequence[float]) -> float:
    """The best point met by a search for the maximum of a `score` >= 0 around 0.

    It looks at the `first` points, then at those of `OPENING`, then, until the evaluations are
    spent, between the two neighbours a < b of one side that promise most. What is asked of them is
    that the score grows no faster than the distance from 0 while nothing changes: so score(a)
    times b/a, or times `GROWTH` if that is less, is what may be found between them, just before the
    rule lets go. The new point is halfway in the logarithm, and 2a where b is beyond 4a; nearer to
    0 than all points met, half of the first may hold what that one does.

    >>> round(line_search(lambda u: u if u < 3.3 else 0.0, evaluations=20, first=[0.5]), 2)
    3.3
    """
    value = _Budget(score, evaluations)
    for point in (*first, *OPENING):
        value.look_at(point)
    while value.left and (point_or_none := value.most_promising()) is not None:
        value.look_at(point_or_none)
    return value.best()
