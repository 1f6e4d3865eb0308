"""What an attack on the objective is: the label distributions that Byzantine workers report."""

from abc import ABC, abstractmethod

from torch import Generator, Tensor

from wola.ground.checks import check_whole
from wola.labels.objective import Objective
from wola.labels.simplex import Distributions, check_distributions


class ObjectiveAttack(ABC):
    """Lies about labels: a frozen value whose one verb makes f false reports.

    ``attack(honest, f)`` gives them, (f, C) float64, against the ``honest`` distributions (h, C);
    a subclass says which by `lies`. Whoever reads reports meets them: the objective q that is
    estimated from them, and rules of the server's that compare them with the updates.
    """

    @abstractmethod
    def lies(
        self, honest: Tensor, f: int, objective: Objective | None, generator: Generator | None
    ) -> Tensor:
        """The f >= 0 reports (f, C), given the honest ones (h, C) float64, each a distribution."""

    def __call__(
        self,
        honest: Distributions,
        f: int,
        *,
        objective: Objective | None = None,
        generator: Generator | None = None,
    ) -> Tensor:
        """The reports (f, C) float64 against the ``honest`` distributions (h, C)."""
        f = check_whole("f", f, least=0)
        rows = check_distributions(honest, name="honest")
        return self.lies(rows, f, objective, generator)

    def told(self, reports: Tensor, updates: Tensor, honest: int) -> Tensor:
        """What the attackers tell a rule in a round, (n - honest, C): what they reported.

        ``reports`` (n, C) and ``updates`` (n, d) are those of all, the ``honest`` ones first.
        """
        return reports[honest:]
