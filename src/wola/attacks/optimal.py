"""What attacks that optimise their factor against the server's own rule have in common."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from torch import Generator, Tensor

from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule
from wola.attacks._judge import Judge, needed_rule
from wola.attacks._line_search import line_search
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_number, check_whole


@dataclass(frozen=True)
class Line:
    """The factors z of an attack by their place u: z = centre + unit u.

    At the centre the candidate is the honest mean, and one unit from it as far from the mean as an
    honest update is (root mean square). `more` holds factors that are looked at in any case.
    """

    centre: float = 0.0
    unit: float = 1.0
    more: tuple[float, ...] = ()

    def factor(self, u: float) -> float:
        """The factor at a place."""
        return self.centre + self.unit * u

    def place(self, z: float) -> float:
        """The place of a factor."""
        return (z - self.centre) / self.unit


@dataclass(frozen=True)
class Family:
    """The candidates of an attack beside some honest updates: one for each factor z.

    `base` (k, d) are rows that every candidate is a combination of, the h honest ones first;
    `coefficients` gives the candidate over them, (k,), `row` the candidate itself, (d,). `line`
    says where the search looks.
    """

    base: Tensor
    coefficients: Callable[[float], Floats]
    row: Callable[[float], Tensor]
    line: Line


@dataclass(frozen=True)
class Optimal(ColludingAttack):
    """The factor z of an attack, found by a search against the server's own rule."""

    scale_equivariant: ClassVar[bool] = True

    evaluations: int = 20
    start: float | None = None

    def __post_init__(self) -> None:
        check_whole("evaluations", self.evaluations, least=1)
        if self.start is not None:
            check_number("start", self.start)

    @abstractmethod
    def plain(self, n: int, f: int) -> float:
        """The factor of the attack that is not optimised."""

    @abstractmethod
    def family(self, seen: Seen, rule: Rule) -> Family:
        """The candidates among which the search looks."""

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """The candidate with the best factor found."""
        rule = needed_rule(rule, f"{self} optimises against", n=seen.n, f=seen.f)
        family = self.family(seen, rule)
        return family.row(self._factor(family, seen, rule, generator))

    def _factor(self, family: Family, seen: Seen, rule: Rule, generator: Generator | None) -> float:
        """The best factor found by the search."""
        start = self.plain(seen.n, seen.f) if self.start is None else float(self.start)
        judge = Judge.of(seen, family.base, rule, generator)
        if judge.refused:
            return start
        line = family.line
        # Scaled back and forth, what was asked for would come out rounded.
        given = {line.place(z): z for z in (*line.more, start)}

        def moved(u: float) -> float:
            z = given.get(u, line.factor(u))
            squared = judge.moved(family.coefficients(z))
            return sqrt(squared) if squared >= 0 else squared

        best = line_search(moved, self.evaluations, list(reversed(given)))
        return given.get(best, line.factor(best))
