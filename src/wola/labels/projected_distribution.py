"""Reports that explain what is sent: told anew in each round."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.source import Matrix
from wola.aggregation.space import Space
from wola.labels.nearest_mixture import nearest_mixture
from wola.labels.objective import Objective
from wola.labels.objective_attack import ObjectiveAttack


@dataclass(frozen=True)
class ProjectedDistribution(ObjectiveAttack):
    r"""In each round the label distribution that best explains the update which is sent.

    .. math:: v = \arg\min_{v \ge 0,\ \sum_c v^c = 1} \| x - v \hat G \|_2, \qquad
        \hat G = \pi_H^+ x_H

    with x what the attacker sends and :math:`x_H`, :math:`\pi_H` the updates and reports of the
    honest workers, which give an estimate of one gradient for each class. This is for rules that
    compare reports with updates, such as ``GReco`` and ``HullGuard``. Where the objective is
    estimated, before any round, the attackers report the mean of the honest distributions (our
    choice: there is no update to explain yet). So does an attacker in a round in which what it
    sends is not finite.

    Needs: the updates of each round.

    Cost: in each round a pseudo-inverse of the h honest reports and their inner products with what
    is sent, O(h^2 d).

    Reference: public code of 2026; not published as far as is known.

    >>> updates = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> reports = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]])
    >>> ProjectedDistribution().told(reports, updates, honest=2)
    tensor([[0.5000, 0.5000]], dtype=torch.float64)
    """

    def lies(
        self, honest: Tensor, f: int, objective: Objective | None, generator: Generator | None
    ) -> Tensor:
        """The mean of the honest distributions, f times (f, C)."""
        return honest.mean(0).repeat(f, 1)

    def told(self, reports: Tensor, updates: Tensor, honest: int) -> Tensor:
        """What the attackers say once they know what is sent, (n - honest, C)."""
        known = reports.double()
        usable = torch.linalg.vector_norm(updates.double(), dim=1).isfinite().cpu()
        ours = usable[:honest].nonzero()[:, 0]
        lies = known[honest:].clone()
        if not len(ours):
            return lies
        classes = np.zeros((known.shape[1], len(updates)))
        classes[:, ours] = np.linalg.pinv(known[ours.to(known.device)].cpu().numpy())
        # Rows that are not finite have no part in any mixture, but 0 times NaN is NaN.
        space = Space(Matrix(updates.where(usable[:, None].to(updates.device), 0.0)))
        for k in usable[honest:].nonzero()[:, 0].tolist():
            away = classes.copy()
            away[:, honest + k] -= 1.0
            lies[k] = torch.from_numpy(nearest_mixture(space.mix(away).gram))
        return lies
