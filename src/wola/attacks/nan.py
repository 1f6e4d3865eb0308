"""Updates of values that are not numbers."""

from dataclasses import dataclass

from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks.attack import Attack


@dataclass(frozen=True)
class NaN(Attack):
    """Every coordinate is not a number: a rule that does not drop such updates returns nonsense.

    Cost: nothing.

    Reference: none, a plain fault.

    >>> import torch
    >>> NaN()(torch.zeros(3, 2), f=1)
    tensor([[nan, nan]])
    """

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """All not a number."""
        return honest.new_full((honest.shape[1],), float("nan")).expand(f, -1)
