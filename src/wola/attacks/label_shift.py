"""Label shifting."""

from dataclasses import dataclass

from torch import Tensor

from wola.attacks.label_attack import LabelAttack
from wola.ground.checks import check_whole


@dataclass(frozen=True)
class LabelShift(LabelAttack):
    """Label shifting: y becomes (y + k) mod C, so no class keeps its name unless C divides k.

    Defaults: `k`: ours.

    Cost: honest training of the f attackers.

    Reference: ours.

    >>> import torch
    >>> LabelShift(1).labels(torch.tensor([0, 1, 9]), classes=10)
    tensor([1, 2, 0])
    """

    k: int = 1

    def __post_init__(self) -> None:
        check_whole("k", self.k)

    def relabel(self, labels: Tensor, classes: int) -> Tensor:
        """(y + k) mod C."""
        return (labels + self.k % classes) % classes
