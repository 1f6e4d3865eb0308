"""Updates of zeros."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks.attack import Attack


@dataclass(frozen=True)
class Zero(Attack):
    """Every coordinate is zero: attackers who contribute nothing.

    Cost: nothing.

    Reference: none, a plain fault.

    >>> import torch
    >>> Zero()(torch.ones(3, 2), f=1)
    tensor([[0., 0.]])
    """

    scale_equivariant: ClassVar[bool] = True

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """All zero."""
        return honest.new_full((honest.shape[1],), 0.0).expand(f, -1)
