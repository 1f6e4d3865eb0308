"""Reports drawn at random."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from wola.ground.generators import given_generator
from wola.labels.objective import Objective
from wola.labels.objective_attack import ObjectiveAttack


@dataclass(frozen=True)
class RandomDistribution(ObjectiveAttack):
    r"""Each attacker reports a distribution drawn evenly from all of them.

    .. math:: v_k \sim Dir(1, \dots, 1)

    Cost: nothing.

    Draws: a distribution for each attacker.

    Reference: none, a plain lie.

    >>> attack, generator = RandomDistribution(), torch.Generator().manual_seed(1)
    >>> attack(torch.tensor([[0.5, 0.5]]), f=3, generator=generator).shape
    torch.Size([3, 2])
    """

    def lies(
        self, honest: Tensor, f: int, objective: Objective | None, generator: Generator | None
    ) -> Tensor:
        """A distribution for each of the f (f, C)."""
        source = given_generator(generator, f"{self} draws distributions")
        draws = torch.empty(f, honest.shape[1], dtype=honest.dtype, device=source.device)
        draws.exponential_(generator=source)
        return (draws / draws.sum(1, keepdim=True)).to(honest.device)
