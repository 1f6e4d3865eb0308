"""A little is enough."""

from dataclasses import dataclass
from statistics import NormalDist

from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks._moments import mean_and_std
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_number


def alie_factor(n: int, f: int) -> float:
    """z = Phi^-1((n - s) / n) with s = floor(n/2) + 1 - f, Phi the normal distribution function.

    s is how many honest workers the f attackers need on their side for a majority.

    >>> round(alie_factor(n=17, f=6), 4)
    0.9289
    """
    s = n // 2 + 1 - f
    return NormalDist().inv_cdf((n - s) / n)


@dataclass(frozen=True)
class ALIE(ColludingAttack):
    """A little is enough: mean + z std of the honest updates, coordinate by coordinate.

    std is the population's. `z` None takes the z up to which enough honest workers lie farther
    out than the attackers, Phi^-1((n - s) / n) with s = floor(n/2) + 1 - f. Reference: G. Baruch,
    M. Baruch and Y. Goldberg, A little is enough: circumventing defenses for distributed
    learning, NeurIPS 2019.

    >>> import torch
    >>> ALIE(z=1.5)(torch.tensor([[1.0], [2.0], [3.0], [2.0]]), f=1)
    tensor([[3.0607]])
    """

    z: float | None = None

    def __post_init__(self) -> None:
        if self.z is not None:
            check_number("z", self.z)

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """mean + z std."""
        z = alie_factor(seen.n, seen.f) if self.z is None else float(self.z)
        return mean_and_std(seen.honest, 1.0, z)
