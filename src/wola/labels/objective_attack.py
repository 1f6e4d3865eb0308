"""What an attack on the objective is: the label distributions that Byzantine workers report."""

from abc import ABC, abstractmethod

from torch import Generator, Tensor

from wola.labels.objective import Objective
from wola.labels.simplex import Distributions


class ObjectiveAttack(ABC):
    """An attack on the objective q: a frozen value whose one verb makes f false reports."""

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
