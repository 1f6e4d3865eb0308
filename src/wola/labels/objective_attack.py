"""What an attack on the objective is: the label distributions that Byzantine workers report."""

from abc import ABC, abstractmethod

from torch import Generator, Tensor

from wola.labels.objective import Objective
from wola.labels.simplex import Distributions


class ObjectiveAttack(ABC):
    """Lies about labels: a frozen value whose one verb makes f false reports.

    Whoever reads reports meets them: the objective q that is estimated from them, and rules of the
    server's that compare them with the updates.
    """

    @abstractmethod
    def __call__(
        self,
        honest: Distributions,
        f: int,
        *,
        objective: Objective | None = None,
        generator: Generator | None = None,
    ) -> Tensor:
        """The reports (f, C) float64 against the ``honest`` distributions (h, C)."""

    def told(self, reports: Tensor, updates: Tensor, honest: int) -> Tensor:
        """What the attackers tell a rule in a round, (n - honest, C): what they reported.

        ``reports`` (n, C) and ``updates`` (n, d) are those of all, the ``honest`` ones first.
        """
        return reports[honest:]
