"""Reports of all mass on the rarest class."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from wola.labels.objective import Objective
from wola.labels.objective_attack import ObjectiveAttack
from wola.labels.ties import first_of_largest


@dataclass(frozen=True)
class RarestClass(ObjectiveAttack):
    r"""All mass on the class that is rarest in the mean of the honest distributions.

    .. math:: v = e_{c^*}, \qquad c^* = \arg\min_c \frac1h \sum_{i=1}^{h} p_i^c

    Ties go to the lowest class. No report moves the plain mean farther in L1; a robust estimate may
    be moved farther by another one, see :class:`WorstDistribution`.

    Cost: one look at the h honest reports.

    Reference: the WoLA paper, *Proof that WoLA-dagger is a Worst-Case Attack*.

    >>> RarestClass()(torch.tensor([[0.5, 0.2, 0.3], [0.6, 0.2, 0.2]]), f=1)
    tensor([[0., 1., 0.]], dtype=torch.float64)
    """

    def lies(
        self, honest: Tensor, f: int, objective: Objective | None, generator: Generator | None
    ) -> Tensor:
        """All mass on the rarest class, f times (f, C)."""
        mean = honest.mean(0)
        report = torch.zeros_like(mean)
        report[first_of_largest(-mean)] = 1
        return report.repeat(f, 1)
