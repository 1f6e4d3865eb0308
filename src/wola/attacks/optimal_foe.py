"""FOE with the factor that moves the server's own rule farthest."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from wola.aggregation.products import row_energies
from wola.aggregation.rule import Rule
from wola.attacks._moments import mean_and_std
from wola.attacks.attack import Seen
from wola.attacks.optimal import Family, Line, Optimal

#: Units smaller than this would be rounding alone.
SMALLEST = 2.0**-20


@dataclass(frozen=True)
class OptimalFOE(Optimal):
    """-z mean with the z found to move the server's aggregate farthest from the honest mean.

    The search and its options are those of `OptimalALIE`, around z = -1, where the attackers send
    the mean, in units of the honest spread: r / ||mean||, r^2 the mean squared distance of an
    honest update to the mean. `start` None is 0.1, the epsilon of `FOE`; z = 0 is looked at next,
    since a rule that starts at 0 listens most to what lies there.

    Defaults: `evaluations`, `start`: ours.

    Needs: the server's rule.

    Cost: as `OptimalALIE`.

    Reference: as `OptimalALIE`.

    >>> import torch
    >>> from wola.aggregation import Mean
    >>> honest = torch.tensor([[1.0], [3.0]])
    >>> OptimalFOE()(honest, f=1, rule=Mean())
    tensor([[-1048574.]])
    """

    def plain(self, n: int, f: int) -> float:
        """The epsilon of FOE."""
        return 0.1

    def family(self, seen: Seen, rule: Rule) -> Family:
        """-z mean, in units of the honest spread from the mean, z = -1, against its length."""
        honest, h = seen.honest, len(seen.honest)
        std, mean = (mean_and_std(honest, *which) for which in ((0.0, 1.0), (1.0, 0.0)))
        spread, length = (sqrt(float(row_energies(row[None])[0])) for row in (std, mean))
        ratio = spread / length if length > 0 else 1.0
        return Family(
            base=honest,
            coefficients=lambda z: np.full(h, -z / h),
            row=lambda z: mean_and_std(honest, -z, 0.0),
            line=Line(-1.0, min(max(ratio, SMALLEST), 1 / SMALLEST), (0.0,)),
        )
