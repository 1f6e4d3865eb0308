"""Label flipping."""

from dataclasses import dataclass

from torch import Tensor

from wola.attacks.label_attack import LabelAttack


@dataclass(frozen=True)
class LabelFlip(LabelAttack):
    """Label flipping: y becomes C - 1 - y.

    Cost: honest training of the f attackers.

    Reference: Z. Allen-Zhu, F. Ebrahimianghazani, J. Li and D. Alistarh, Byzantine-resilient
    non-convex stochastic gradient descent, ICLR 2021.

    >>> import torch
    >>> LabelFlip().labels(torch.tensor([0, 1, 9]), classes=10)
    tensor([9, 8, 0])
    """

    def relabel(self, labels: Tensor, classes: int) -> Tensor:
        """C - 1 - y."""
        return classes - 1 - labels
