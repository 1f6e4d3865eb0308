"""FOE with the factor that moves the server's own rule farthest."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from wola.aggregation.space import Floats
from wola.attacks._moments import mean_and_std
from wola.attacks.optimal import Optimal


@dataclass(frozen=True)
class OptimalFOE(Optimal):
    """-z mean with the z found to move the server's aggregate farthest from the honest mean.

    The search and its options are those of `OptimalALIE`; `start` None is 0.1, the epsilon of
    `FOE`.

    >>> import torch
    >>> from wola.aggregation import Mean
    >>> honest = torch.tensor([[1.0], [3.0]])
    >>> OptimalFOE(evaluations=3, start=0.0)(honest, f=1, rule=Mean())
    tensor([[-6.]])
    """

    def plain(self, n: int, f: int) -> float:
        """The epsilon of FOE."""
        return 0.1

    def base(self, honest: Tensor) -> Tensor:
        """The honest updates themselves."""
        return honest

    def coefficients(self, z: float, h: int) -> Floats:
        """-z mean."""
        return np.full(h, -z / h)

    def candidate(self, z: float, honest: Tensor) -> Tensor:
        """-z mean."""
        return mean_and_std(honest, -z, 0.0)
