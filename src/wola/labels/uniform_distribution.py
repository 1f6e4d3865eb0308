"""Reports of the same mass on every class."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from wola.labels.objective import Objective
from wola.labels.objective_attack import ObjectiveAttack


@dataclass(frozen=True)
class UniformDistribution(ObjectiveAttack):
    r"""All report the same mass on every class: :math:`v^c = 1/C`.

    Cost: nothing.

    Reference: none, a plain lie.

    >>> UniformDistribution()(torch.tensor([[0.5, 0.2, 0.2, 0.1]]), f=1)
    tensor([[0.2500, 0.2500, 0.2500, 0.2500]], dtype=torch.float64)
    """

    def lies(
        self, honest: Tensor, f: int, objective: Objective | None, generator: Generator | None
    ) -> Tensor:
        """The same mass on every class, f times (f, C)."""
        return torch.full_like(honest[:1], 1 / honest.shape[1]).repeat(f, 1)
