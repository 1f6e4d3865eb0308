"""Updates that ignore the honest ones: noise, zeros, and values that are not numbers."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks.attack import Attack
from wola.ground.checks import check_number


@dataclass(frozen=True)
class Gaussian(Attack):
    """Independent normal noise: each attacker draws every coordinate from N(mean, std^2).

    The draws come from the generator given with the call, which moves on.

    >>> import torch
    >>> generator = torch.Generator().manual_seed(0)
    >>> Gaussian(std=5.0)(torch.zeros(4, 3), f=2, generator=generator).shape
    torch.Size([2, 3])
    """

    mean: float = 0.0
    std: float = 1.0

    def __post_init__(self) -> None:
        check_number("mean", self.mean)
        check_number("std", self.std, least=0.0)

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """mean + std times f rows of standard normal noise."""
        if generator is None:
            raise ValueError(
                f"{self} draws noise and generator is None; allowed: a torch.Generator that the "
                "caller keeps from round to round"
            )
        dtype = torch.float64 if honest.dtype == torch.float64 else torch.float32
        shape = (f, honest.shape[1])
        noise = torch.randn(shape, dtype=dtype, device=generator.device, generator=generator)
        return noise.mul_(self.std).add_(self.mean).to(honest.device)


def _all(value: float, honest: Tensor, f: int) -> Tensor:
    return honest.new_full((honest.shape[1],), value).expand(f, -1)


@dataclass(frozen=True)
class Infinite(Attack):
    """Every coordinate is +infinity: a rule that does not drop such updates returns nonsense.

    >>> import torch
    >>> Infinite()(torch.zeros(3, 2), f=1)
    tensor([[inf, inf]])
    """

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """All infinite."""
        return _all(float("inf"), honest, f)


@dataclass(frozen=True)
class NaN(Attack):
    """Every coordinate is not a number: a rule that does not drop such updates returns nonsense.

    >>> import torch
    >>> NaN()(torch.zeros(3, 2), f=1)
    tensor([[nan, nan]])
    """

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """All not a number."""
        return _all(float("nan"), honest, f)


@dataclass(frozen=True)
class Zero(Attack):
    """Every coordinate is zero: attackers who contribute nothing.

    >>> import torch
    >>> Zero()(torch.ones(3, 2), f=1)
    tensor([[0., 0.]])
    """

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """All zero."""
        return _all(0.0, honest, f)
