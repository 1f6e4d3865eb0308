"""A little is enough."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import ClassVar, Literal, get_args

from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks._moments import mean_and_std
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_choice, check_number

Deviation = Literal["population", "sample"]
Quantile = Literal["all", "honest"]


def alie_factor(n: int, f: int, *, quantile: Quantile = "all") -> float:
    """z = Phi^-1((n - s) / n) with s = floor(n/2) + 1 - f, Phi the normal distribution function.

    s is how many honest workers the f attackers need on their side for a majority. `quantile`
    "all" takes the share (n - s) / n of all workers, as the public code of the WoLA paper does;
    "honest" the share (n - f - s) / (n - f) of the honest ones, as Baruch et al. do.

    >>> round(alie_factor(n=17, f=6), 4), round(alie_factor(n=17, f=6, quantile="honest"), 4)
    (0.9289, 0.6046)
    """
    s = n // 2 + 1 - f
    share = (n - s) / n if quantile == "all" else (n - f - s) / (n - f)
    return NormalDist().inv_cdf(share)


@dataclass(frozen=True)
class ALIE(ColludingAttack):
    """A little is enough: mean + z std of the honest updates, coordinate by coordinate.

    `z` None takes the z up to which enough honest workers lie farther out than the attackers: with
    `quantile` "all" (default) Phi^-1((n - s) / n), s = floor(n/2) + 1 - f, with "honest"
    Phi^-1((n - f - s) / (n - f)). `std` is that of the "population" (default) or of a "sample",
    with h - 1 in the denominator (0 for one update). For f = 1 and an even n the default z is 0 and
    the attackers send the honest mean; "honest" gives z <= 0 for f = 1, and for f = 2 with an even
    n. A run notes it.

    Defaults: `z`, `std`, `quantile`: the WoLA paper's public code (its text is silent). "honest" is
    the quantile of the attack's own authors.

    Cost: one pass over the honest updates.

    Reference: G. Baruch, M. Baruch and Y. Goldberg, A little is enough: circumventing defenses for
    distributed learning, NeurIPS 2019.

    >>> import torch
    >>> ALIE(z=1.5)(torch.tensor([[1.0], [2.0], [3.0], [2.0]]), f=1)
    tensor([[3.0607]])
    >>> ALIE(z=1.5, std="sample")(torch.tensor([[1.0], [2.0], [3.0], [2.0]]), f=1)
    tensor([[3.2247]])
    """

    scale_equivariant: ClassVar[bool] = True

    z: float | None = None
    std: Deviation = "population"
    quantile: Quantile = "all"

    def __post_init__(self) -> None:
        if self.z is not None:
            check_number("z", self.z)
        check_choice("std", self.std, get_args(Deviation))
        check_choice("quantile", self.quantile, get_args(Quantile))

    def factor(self, n: int, f: int) -> float:
        """The z for f attackers among n workers."""
        return alie_factor(n, f, quantile=self.quantile) if self.z is None else float(self.z)

    def note(self, n: int, f: int) -> str | None:
        """Says so if no z was asked for and the one that follows from n and f is not positive."""
        z = self.factor(n, f)
        if self.z is not None or z > 0:
            return None
        sent = "they send the honest mean" if z == 0 else "they move the other way"
        return f"{self}: with n = {n} and f = {f} the attackers' z is {z:.3g}, so {sent}"

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """mean + z std."""
        z, k = self.factor(seen.n, seen.f), len(seen.honest)
        if self.std == "sample" and k > 1:
            z *= sqrt(k / (k - 1))
        return mean_and_std(seen.honest, 1.0, z)
