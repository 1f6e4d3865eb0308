"""Reports of all mass on one class, the same for all or each its own."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from wola.ground.checks import check_whole
from wola.ground.generators import given_generator
from wola.labels.objective import Objective
from wola.labels.objective_attack import ObjectiveAttack


@dataclass(frozen=True)
class DiracDistribution(ObjectiveAttack):
    r"""All mass on the class `label`, or on one that each attacker draws for itself.

    .. math:: v_k = e_{c_k}

    For all mass on the rarest class see :class:`RarestClass`. That the classes are drawn, evenly
    and independently, is our choice.

    Defaults: `label`: ours.

    Cost: nothing.

    Draws: a class for each attacker, unless `label` is given.

    Reference: none, a plain lie.

    >>> DiracDistribution(label=2)(torch.tensor([[0.5, 0.2, 0.3]]), f=2)
    tensor([[0., 0., 1.],
            [0., 0., 1.]], dtype=torch.float64)
    """

    label: int | None = None

    def __post_init__(self) -> None:
        if self.label is not None:
            check_whole("label", self.label, least=0)

    def lies(
        self, honest: Tensor, f: int, objective: Objective | None, generator: Generator | None
    ) -> Tensor:
        """All mass on one class, f times (f, C)."""
        classes = honest.shape[1]
        if self.label is None:
            source = given_generator(generator, f"{self} draws classes")
            labels = torch.randint(classes, (f,), generator=source, device=source.device)
        elif self.label < classes:
            labels = torch.full((f,), self.label)
        else:
            raise ValueError(
                f"label = {self.label}; allowed with {classes} classes: 0 to {classes - 1}"
            )
        return torch.eye(classes).to(honest)[labels.to(honest.device)]
