"""Noise instead of an update."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks.attack import Attack
from wola.ground.checks import check_number


@dataclass(frozen=True)
class Gaussian(Attack):
    """Independent normal noise: each attacker draws every coordinate from N(mean, std^2).

    Defaults: `mean`, `std`: ours.

    Cost: f d draws.

    Draws: noise.

    Reference: none, a plain fault.

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
