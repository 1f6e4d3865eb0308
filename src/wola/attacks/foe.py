"""Fall of empires."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks._moments import mean_and_std
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_number


@dataclass(frozen=True)
class FOE(ColludingAttack):
    """Fall of empires: -epsilon times the mean of the honest updates.

    Defaults: `epsilon`: the WoLA paper's public code (its text is silent).

    Cost: one pass over the honest updates.

    Reference: C. Xie, O. Koyejo and I. Gupta, Fall of empires: breaking Byzantine-tolerant SGD by
    inner product manipulation, UAI 2020.

    >>> import torch
    >>> FOE()(torch.tensor([[1.0, 0.0], [3.0, 4.0]]), f=1)
    tensor([[-0.2000, -0.2000]])
    """

    scale_equivariant: ClassVar[bool] = True

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        check_number("epsilon", self.epsilon)

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """-epsilon mean."""
        return mean_and_std(seen.honest, -float(self.epsilon), 0.0)
