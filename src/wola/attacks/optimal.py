"""What attacks that optimise their factor against the server's own rule have in common."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.aggregation.space import Floats
from wola.attacks._judge import Judge
from wola.attacks._line_search import line_search
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_number, check_whole


@dataclass(frozen=True)
class Optimal(ColludingAttack):
    """The factor z of an attack, found by a line search against the server's own rule."""

    scale_equivariant: ClassVar[bool] = True

    evaluations: int = 20
    start: float | None = None
    step: float = 1.0
    ratio: float = 0.5

    def __post_init__(self) -> None:
        check_whole("evaluations", self.evaluations, least=1)
        if self.start is not None:
            check_number("start", self.start)
        check_number("step", self.step, above=0)
        check_number("ratio", self.ratio, above=0, below=1)

    @abstractmethod
    def plain(self, n: int, f: int) -> float:
        """The factor of the attack that is not optimised."""

    @abstractmethod
    def base(self, honest: Tensor) -> Tensor:
        """Rows (k, d) that every candidate is a combination of, the h honest ones first."""

    @abstractmethod
    def coefficients(self, z: float, h: int) -> Floats:
        """The candidate with factor z over the base, (k,)."""

    @abstractmethod
    def candidate(self, z: float, honest: Tensor) -> Tensor:
        """The candidate with factor z, (d,)."""

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """The candidate with the best factor found."""
        if rule is None:
            raise ValueError(
                f"{self} optimises against the server's rule and rule is None; allowed: a Rule, "
                "such as NNM() | TrimmedMean()"
            )
        if not isinstance(rule, Rule):
            raise TypeError(f"rule is a {type(rule).__name__}; allowed: a Rule")
        rule.check(seen.n, seen.f)
        return self.candidate(self.factor(seen, rule, generator), seen.honest)

    def factor(self, seen: Seen, rule: Rule, generator: Generator | None) -> float:
        """The best factor found by the line search."""
        start = self.plain(seen.n, seen.f) if self.start is None else float(self.start)
        h, f = len(seen.honest), max(0, seen.f - seen.dropped)
        try:
            rule.check(h + seen.f, f)
        except ValueError:
            # The server drops broken updates and then refuses the round, whatever is sent.
            return start
        judge = Judge(self.base(seen.honest), h, seen.f, rule, f, generator, seen.largest)
        return line_search(
            lambda z: judge.moved(self.coefficients(z, h)),
            self.evaluations,
            start,
            self.step,
            self.ratio,
        )
