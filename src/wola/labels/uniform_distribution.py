"""Reports of the same mass on every class."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from wola.ground.checks import check_whole
from wola.labels.objective import Objective
from wola.labels.objective_attack import ObjectiveAttack
from wola.labels.simplex import Distributions, check_distributions


@dataclass(frozen=True)
class UniformDistribution(ObjectiveAttack):
    r"""All report the same mass on every class: :math:`v^c = 1/C`.

    Cost: nothing.

    Reference: none, a plain lie.

    >>> UniformDistribution()(torch.tensor([[0.5, 0.2, 0.2, 0.1]]), f=1)
    tensor([[0.2500, 0.2500, 0.2500, 0.2500]], dtype=torch.float64)
    """

    def __call__(
        self,
        honest: Distributions,
        f: int,
        *,
        objective: Objective | None = None,
        generator: Generator | None = None,
    ) -> Tensor:
        """The reports (f, C) float64 against the ``honest`` distributions (h, C)."""
        check_whole("f", f, least=0)
        rows = check_distributions(honest, name="honest")
        return torch.full_like(rows[:1], 1 / rows.shape[1]).repeat(f, 1)
