"""The training objective q: known beforehand, uniform, or estimated from workers' reports."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Generator, Tensor

from wola.aggregation import GeometricMedian, Rule
from wola.ground.checks import check_whole
from wola.labels.counts import check_counts, label_distribution
from wola.labels.noise import Mechanism
from wola.labels.simplex import (
    Distributions,
    Vector,
    check_distribution,
    check_reports,
    is_distribution,
    rescaled_distribution,
)


class Objective(ABC):
    """What the server turns into the one distribution q that all workers train towards."""

    needs_reports: ClassVar[bool] = True
    """Whether the values reported by the workers matter, not just their number of classes."""

    @abstractmethod
    def __call__(
        self, distributions: Distributions, f: int, *, generator: Generator | None = None
    ) -> Tensor:
        """The objective q (C,) float64 from the reports (n, C), ``f`` of them Byzantine."""


@dataclass(frozen=True)
class Prior(Objective):
    """A training objective q known beforehand, whatever the workers report.

    ``q`` (C,) is any distribution, kept as a tuple: national statistics, the label distribution of
    last year, or a target the workers agreed on. Reports are only looked at for their number of
    classes. In a scenario, no ``q`` stands for the honest workers' global label distribution;
    elsewhere nobody knows it.

    Defaults: `q`: the WoLA paper, which trains for the global label distribution.

    Cost: nothing.

    Reference: the WoLA paper, *Training Objective & WoLA Definition*.

    >>> Prior([0.25, 0.75])(torch.rand(5, 2), f=1)
    tensor([0.2500, 0.7500], dtype=torch.float64)
    """

    needs_reports: ClassVar[bool] = False

    q: Vector | None = None

    def __post_init__(self) -> None:
        if self.q is None:
            return
        # A tuple makes the value hashable and comparable, whatever it was given as.
        object.__setattr__(self, "q", tuple(check_distribution(self.q).tolist()))

    def __call__(
        self, distributions: Distributions, f: int, *, generator: Generator | None = None
    ) -> Tensor:
        """The distribution q (C,) float64; ``distributions`` must have C columns."""
        check_whole("f", f, least=0)
        reports = check_reports(distributions, name="distributions")
        if self.q is None:
            raise ValueError("q = None; allowed: the distribution, known beforehand")
        return check_distribution(self.q, reports.shape[1]).to(reports.device)


@dataclass(frozen=True)
class Uniform(Objective):
    r"""Every class counts the same: :math:`q^c = 1/C`, whatever the workers report.

    C is the number of columns of the reports.

    Cost: nothing.

    Reference: the WoLA paper, *Training Objective & WoLA Definition*, where it stands for a
    consensus among workers.

    >>> Uniform()(torch.rand(5, 4), f=1)
    tensor([0.2500, 0.2500, 0.2500, 0.2500], dtype=torch.float64)
    """

    needs_reports: ClassVar[bool] = False

    def __call__(
        self, distributions: Distributions, f: int, *, generator: Generator | None = None
    ) -> Tensor:
        """The uniform distribution (C,) float64 over the columns of ``distributions``."""
        check_whole("f", f, least=0)
        reports = check_reports(distributions, name="distributions")
        return torch.full_like(reports[0], 1 / reports.shape[1])


@dataclass(frozen=True)
class Shared(Objective):
    r"""The objective estimated from the distributions the workers report, robustly.

    .. math:: q = \Pi\big(R(p_1, \dots, p_n)\big), \qquad
              \Pi(v)^c = \max(v^c, 0) / \textstyle\sum_k \max(v^k, 0)

    :math:`R` is ``rule``, by default the geometric median by three smoothed Weiszfeld steps from 0;
    any rule or chain may stand in its place. A chain with nearest-neighbour mixing, ``Shared(NNM()
    | GeometricMedian())``, follows the honest mean much more closely under the paper's attack,
    :class:`RarestClass`, but not under a report searched for against that very chain,
    :class:`WorstDistribution`. :math:`\Pi` makes the result of a coordinate-wise rule a
    distribution and leaves a distribution as it is to rounding; a vector without any positive entry
    is projected onto the simplex instead (the zero vector, where no class has a majority of the
    workers, gives the uniform distribution).

    A report that is no distribution (a non-finite or negative value, a sum off 1 by more than 1e-6)
    is dropped, and each one dropped lowers n and f by one, f not below 0. Fewer than 2f + 1 left is
    an error. ``noise`` is what honest workers add before they report, see :meth:`report`.

    Defaults: `rule`: the WoLA paper, which takes the geometric median; its 3 steps and nu of 0.1
    are the WoLA paper's public code's; `noise`: the WoLA paper, which adds none.

    Cost: the rule on n reports of C numbers, once for a run.

    Reference: the WoLA paper, *Training Objective Attack*.

    >>> reports = torch.tensor([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [float("nan"), 1.0]])
    >>> Shared()(reports, f=1)
    tensor([0.5000, 0.5000], dtype=torch.float64)
    """

    needs_reports: ClassVar[bool] = True

    rule: Rule = field(default_factory=lambda: GeometricMedian(iterations=3, nu=0.1))
    noise: Mechanism | None = None

    def __post_init__(self) -> None:
        for name, value in (("rule", self.rule), ("noise", self.noise)):
            if value is not None and (not callable(value) or isinstance(value, type)):
                raise TypeError(f"{name} must be a value such as Name(...), got {value!r}")
        if self.rule is None:
            raise TypeError("rule must be a rule or a chain, got None")

    def report(self, counts: Vector, *, generator: Generator | None = None) -> Tensor:
        """What an honest worker with these ``counts`` (C,) sends: (C,) float64, noise included.

        >>> Shared().report([1, 3])
        tensor([0.2500, 0.7500], dtype=torch.float64)
        """
        distribution = label_distribution(counts)
        if self.noise is None:
            return distribution
        return self.noise(distribution, int(check_counts(counts).sum()), generator=generator)

    def __call__(
        self, distributions: Distributions, f: int, *, generator: Generator | None = None
    ) -> Tensor:
        """The estimate q (C,) float64 from the reports (n, C), ``f`` of them Byzantine."""
        check_whole("f", f, least=0)
        reports = check_reports(distributions, name="distributions")
        kept = reports[is_distribution(reports)]
        dropped = len(reports) - len(kept)
        left = max(f - dropped, 0)
        if len(kept) <= 2 * left:
            raise ValueError(
                f"distributions must hold more than 2f valid rows: of n = {len(reports)} with "
                f"f = {f}, {dropped} were dropped, which leaves {len(kept)} with f = {left}"
            )
        return rescaled_distribution(self.rule(kept, left, generator=generator))
