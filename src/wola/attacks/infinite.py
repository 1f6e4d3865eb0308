"""Updates of infinities."""

from dataclasses import dataclass

from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks.attack import Attack


@dataclass(frozen=True)
class Infinite(Attack):
    """Every coordinate is +infinity: a rule that does not drop such updates returns nonsense.

    Cost: nothing.

    Reference: none, a plain fault.

    >>> import torch
    >>> Infinite()(torch.zeros(3, 2), f=1)
    tensor([[inf, inf]])
    """

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """All infinite."""
        return honest.new_full((honest.shape[1],), float("inf")).expand(f, -1)
