"""Reports of the honest distribution farthest from the mean."""

from dataclasses import dataclass

from torch import Generator, Tensor

from wola.labels.objective import Objective
from wola.labels.objective_attack import ObjectiveAttack
from wola.labels.ties import first_of_largest


@dataclass(frozen=True)
class OutlierDistribution(ObjectiveAttack):
    r"""All report the honest distribution farthest from the honest mean in L1.

    .. math:: v = p_{i^*}, \qquad i^* = \arg\max_i \|p_i - \bar p\|_1

    Ties go to the lowest worker. The report is one an honest worker could have sent, as in the
    Mimic attack on gradients.

    Cost: one look at the h honest reports.

    Reference: ours, after the Mimic attack of S. P. Karimireddy, L. He and M. Jaggi,
    Byzantine-robust learning on heterogeneous datasets via bucketing, ICLR 2022.

    >>> import torch
    >>> OutlierDistribution()(torch.tensor([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]), f=1)
    tensor([[1., 0.]], dtype=torch.float64)
    """

    def lies(
        self, honest: Tensor, f: int, objective: Objective | None, generator: Generator | None
    ) -> Tensor:
        """The honest distribution farthest from the mean, f times (f, C)."""
        return honest[first_of_largest((honest - honest.mean(0)).abs().sum(1))].repeat(f, 1)
