"""Reports found to move the server's own estimate farthest."""

from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Generator, Tensor

from wola.ground.checks import check_whole
from wola.ground.generators import copied
from wola.labels.objective import Objective, Shared
from wola.labels.objective_attack import ObjectiveAttack
from wola.labels.ties import first_of_largest


@dataclass(frozen=True)
class WorstDistribution(ObjectiveAttack):
    r"""The report found to move the server's own estimate farthest from the honest mean in L1.

    .. math:: \max_v \big\| Q(p_1, \dots, p_h, v, \dots, v) - \bar p \big\|_1

    :math:`Q` is the server's ``objective``, the paper's :class:`Shared` where none is given; all
    f workers report the same v. The search is deterministic. Its anchors are the C vertices and
    the h honest distributions; it evaluates every anchor; then, for every pair of the ``beam``
    best ones, their mixtures with shares 1/4, 1/2 and 3/4; then takes ``rounds`` rounds of
    refinement, each of which tries to move the best report by a step towards every anchor and
    halves the step (1/2 at first) when none helps. So it never does worse than
    :class:`RarestClass` or :class:`OutlierDistribution`, and it evaluates the objective at most
    ``evaluations(h, C)`` times. A random rule sees the same randomness in every evaluation: a
    copy of ``generator``, which is left as it was.

    Defaults: `beam`, `rounds`: ours.

    Needs: the server's objective.

    Cost: at most ``evaluations(h, C)`` times the server's objective.

    Reference: ours.

    >>> honest = torch.tensor([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.5, 0.2, 0.3]])
    >>> WorstDistribution()(honest, f=1)
    tensor([[0., 1., 0.]], dtype=torch.float64)
    >>> WorstDistribution().evaluations(h=3, classes=3)
    99
    """

    beam: int = 6
    rounds: int = 8

    def __post_init__(self) -> None:
        check_whole("beam", self.beam, least=0)
        check_whole("rounds", self.rounds, least=0)

    def evaluations(self, h: int, classes: int) -> int:
        """The largest number of evaluations for ``h`` honest workers and ``classes`` classes."""
        anchors = h + classes
        beam = min(self.beam, anchors)
        return anchors + 3 * beam * (beam - 1) // 2 + self.rounds * anchors

    def lies(
        self, honest: Tensor, f: int, objective: Objective | None, generator: Generator | None
    ) -> Tensor:
        """The report that moves the objective farthest, f times (f, C)."""
        if f == 0:
            return honest[:0].clone()
        server = Shared() if objective is None else objective
        mean = honest.mean(0)

        def shift(report: Tensor) -> float:
            reports = torch.cat([honest, report.repeat(f, 1)])
            estimate = server(reports, f, generator=copied(generator))
            return float((estimate.to(mean.device) - mean).abs().sum())

        vertices = torch.eye(honest.shape[1], dtype=honest.dtype, device=honest.device)
        anchors = torch.cat([vertices, honest])
        shifts = torch.tensor([shift(anchor) for anchor in anchors], dtype=torch.float64)
        order = shifts.argsort(descending=True, stable=True).tolist()
        best, reached = anchors[order[0]], float(shifts[order[0]])
        for left, right in combinations(order[: self.beam], 2):
            for share in (0.25, 0.5, 0.75):
                report = share * anchors[left] + (1 - share) * anchors[right]
                if (moved := shift(report)) > reached:
                    best, reached = report, moved
        step = 0.5
        for _ in range(self.rounds):
            moves = (1 - step) * best + step * anchors
            shifts = torch.tensor([shift(move) for move in moves], dtype=torch.float64)
            top = first_of_largest(shifts)
            if shifts[top] > reached:
                best, reached = moves[top], float(shifts[top])
            else:
                step /= 2
        return best.repeat(f, 1)
