"""ALIE and FOE with the factor that moves the server's own rule farthest."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.aggregation.space import Floats
from wola.attacks._judge import Judge
from wola.attacks._line_search import line_search
from wola.attacks._moments import mean_and_std
from wola.attacks.alie import alie_factor
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_number, check_whole


@dataclass(frozen=True)
class _Optimal(ColludingAttack):
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


@dataclass(frozen=True)
class OptimalALIE(_Optimal):
    """mean + z std with the z found to move the server's aggregate farthest from the honest mean.

    The attackers know the honest updates and the server's `rule` and maximise || rule(honest, f
    copies of mean + z std) - mean || over z, of either sign, by a deterministic line search: from
    `start` (None: the z of `ALIE`) with `step`, doubled while that helps; then both sides of the
    best point, the step times `ratio` each time, until the rule has been evaluated `evaluations`
    times. The best z met is taken, so it is never weaker than `start`. The attackers' updates
    come after the honest ones. A random rule meets the same draws in each evaluation, those of a
    copy of `generator`: pass the server's own, which is left as it was, and the attackers know
    the draw; pass another and they do not. The line search is that of E. M. El Mhamdi, R.
    Guerraoui and S. Rouault, Distributed momentum for Byzantine-resilient stochastic gradient
    descent, ICLR 2021, made two-sided.

    >>> import torch
    >>> from wola.aggregation import TrimmedMean
    >>> honest = torch.tensor([[1.0], [2.0], [2.0], [3.0]])
    >>> sent = OptimalALIE()(honest, f=1, rule=TrimmedMean())
    >>> TrimmedMean()(torch.cat([honest, sent]), f=1)
    tensor([2.3333])
    """

    def plain(self, n: int, f: int) -> float:
        """The z of ALIE."""
        return alie_factor(n, f)

    def base(self, honest: Tensor) -> Tensor:
        """The honest updates and mean + std.

        With mean + std in place of std every candidate's coefficients add up to one: what the
        updates have in common, however large, cancels.
        """
        return torch.cat([honest, mean_and_std(honest, 1.0, 1.0)[None]])

    def coefficients(self, z: float, h: int) -> Floats:
        """(1 - z) mean + z (mean + std)."""
        return np.append(np.full(h, (1.0 - z) / h), z)

    def candidate(self, z: float, honest: Tensor) -> Tensor:
        """mean + z std."""
        return mean_and_std(honest, 1.0, z)


@dataclass(frozen=True)
class OptimalFOE(_Optimal):
    """-z mean with the z found to move the server's aggregate farthest from the honest mean.

    The search and its options are those of `OptimalALIE`; `start` None is 0.1, the epsilon of
    `FOE`.

    >>> import torch
    >>> from wola.aggregation import Mean
    >>> honest = torch.tensor([[1.0], [3.0]])
    >>> OptimalFOE(evaluations=3, start=0.0)(honest, f=1, rule=Mean())
    tensor([[-6.]])
    """

    def plain(self, n: int, f: int) -> float:
        """The epsilon of FOE."""
        return 0.1

    def base(self, honest: Tensor) -> Tensor:
        """The honest updates themselves."""
        return honest

    def coefficients(self, z: float, h: int) -> Floats:
        """-z mean."""
        return np.full(h, -z / h)

    def candidate(self, z: float, honest: Tensor) -> Tensor:
        """-z mean."""
        return mean_and_std(honest, -z, 0.0)
