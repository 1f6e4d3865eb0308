"""Multi-Krum."""

from dataclasses import dataclass

from wola.aggregation.krum import NeighbourRule
from wola.aggregation.products import Floats
from wola.aggregation.selection import smallest
from wola.aggregation.space import Space
from wola.ground.checks import check_whole


@dataclass(frozen=True)
class MultiKrum(NeighbourRule):
    """The mean of the m updates with the lowest Krum scores, by default m = n - f.

    Updates tied at the edge share the weight that those below it leave. Scores as in `Krum`;
    accepted while f < n/2 and m <= n.

    Defaults: `power`: its authors. The WoLA paper's public code takes 1 (its text is silent); `m`:
    ours, n - f. Its authors leave m open, and the WoLA paper's text does not give it.

    Cost: one pass over the updates for their inner products, O(n^2 d).

    Reference: P. Blanchard, E. M. El Mhamdi, R. Guerraoui and J. Stainer, Machine learning with
    adversaries: Byzantine tolerant gradient descent, NeurIPS 2017.

    >>> import torch
    >>> MultiKrum()(torch.tensor([[0.0], [1.0], [2.0], [9.0]]), f=1)
    tensor([1.])
    """

    m: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m is not None:
            check_whole("m", self.m, least=1)

    def max_byzantine(self, n: int) -> int:
        """The largest f < n/2; -1 if there are fewer than m updates."""
        return -1 if self.m is not None and self.m > n else super().max_byzantine(n)

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the m lowest scores; ties at the edge share."""
        scores, errors = self.scores(space, f)
        return smallest(scores, space.n - f if self.m is None else self.m, errors)
