"""Training on one class alone."""

from dataclasses import dataclass

import torch
from torch import Tensor

from wola.attacks.label_attack import LabelAttack


@dataclass(frozen=True)
class OneClass(LabelAttack):
    """Honest training on true labels, on samples of one class alone: the rarest.

    The class is the one with the fewest honest samples among those that the attackers hold, the
    lowest if several have as few. An attacker without a sample of it trains on those of the other
    attackers, of whom at least one has some; no label is ever changed. What they send is what an
    honest worker with such data would send, so no rule that allows for label skew may drop it; the
    aggregate is moved towards that class by up to their share. Under `LogitAdjusted` a worker of
    one class has a gradient of 0, and so have these. It tests the arguments by which BOBA and
    others tell liars from skewed workers.

    Needs: how many samples of each class the honest workers hold.

    Cost: honest training of the f attackers.

    Reference: ours.

    >>> labels = torch.tensor([0, 1, 2, 1, 0])
    >>> OneClass().choose(labels, honest=torch.tensor([50, 3, 10, 0]))
    tensor([False,  True, False,  True, False])
    """

    def relabel(self, labels: Tensor, classes: int) -> Tensor:
        """The labels as they are."""
        return labels

    def choose(self, labels: Tensor, honest: Tensor) -> Tensor:
        """The samples of the rarest class that the attackers hold: a mask (N,)."""
        held = torch.zeros_like(honest, dtype=torch.bool)
        held[labels] = True
        rarest = honest.double().masked_fill(~held, torch.inf).argmin()
        return labels == rarest
