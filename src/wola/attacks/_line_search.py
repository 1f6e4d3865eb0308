"""A deterministic line search that counts what it costs."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class _Budget:
    """A function to maximise, evaluated at most `evaluations` times, never twice at one point."""

    score: Callable[[float], float]
    evaluations: int
    met: dict[float, float] = field(default_factory=dict)

    @property
    def left(self) -> bool:
        return len(self.met) < self.evaluations

    def __call__(self, point: float) -> float:
        if point not in self.met:
            if not self.left:
                return -float("inf")
            self.met[point] = self.score(point)
        return self.met[point]

    def best(self) -> float:
        """The point with the highest score met; of equal ones, the first."""
        return max(self.met, key=self.met.__getitem__)


def line_search(
    score: Callable[[float], float], evaluations: int, start: float, step: float, ratio: float
) -> float:
    """The best point met by a search for the maximum of `score` from `start`.

    First it goes right while that is better, doubling the step; if the first step to the right
    did not help, it goes left in the same way. Then, until the evaluations are spent, it
    multiplies the step by `ratio` and looks at both sides of the best point. A maximum between
    the last two steps of the first part is closed in upon by the second.

    >>> line_search(lambda z: -(z - 3.3) ** 2, evaluations=20, start=0.0, step=1.0, ratio=0.5)
    3.296875
    """
    value = _Budget(score, evaluations)
    best, best_score = start, value(start)
    for sign in (1.0, -1.0):
        reach = step
        while value(best + sign * reach) > best_score:
            best += sign * reach
            best_score = value(best)
            reach *= 2
        if best != start:
            break
    while value.left and best + reach != best:
        reach *= ratio
        value(best + reach)
        value(best - reach)
        best = value.best()
    return value.best()
