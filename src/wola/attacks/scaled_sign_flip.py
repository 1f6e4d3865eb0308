"""Sign flipping by a large factor."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks._moments import mean_and_std
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_number


@dataclass(frozen=True)
class ScaledSignFlip(ColludingAttack):
    """Minus `scale` times the mean of the honest updates, to pull an average the other way.

    With scale > h/f the plain mean of all updates points against the honest one. It is
    `FOE(epsilon=scale)` under the name it has for large factors; scale >= 0.

    Defaults: `scale`: ours.

    Cost: one pass over the honest updates.

    Reference: as `FOE`.

    >>> import torch
    >>> ScaledSignFlip(10.0)(torch.tensor([[1.0, 0.0], [3.0, 4.0]]), f=1)
    tensor([[-20., -20.]])
    """

    scale_equivariant: ClassVar[bool] = True

    scale: float = 10.0

    def __post_init__(self) -> None:
        check_number("scale", self.scale, least=0.0)

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """-scale mean."""
        return mean_and_std(seen.honest, -float(self.scale), 0.0)
