"""Sign flipping."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks._moments import mean_and_std
from wola.attacks.attack import ColludingAttack, Seen


@dataclass(frozen=True)
class SignFlip(ColludingAttack):
    """Minus the mean of the honest updates.

    Cost: one pass over the honest updates.

    Reference: Z. Allen-Zhu, F. Ebrahimianghazani, J. Li and D. Alistarh, Byzantine-resilient
    non-convex stochastic gradient descent, ICLR 2021.

    >>> import torch
    >>> SignFlip()(torch.tensor([[1.0, 0.0], [3.0, 4.0]]), f=1)
    tensor([[-2., -2.]])
    """

    scale_equivariant: ClassVar[bool] = True

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """-mean."""
        return mean_and_std(seen.honest, -1.0, 0.0)
