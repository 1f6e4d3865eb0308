"""ALIE with the factor that moves the server's own rule farthest."""

from dataclasses import dataclass

import numpy as np
import torch

from wola.aggregation.rule import Rule
from wola.attacks._moments import mean_and_std
from wola.attacks.alie import alie_factor
from wola.attacks.attack import Seen
from wola.attacks.optimal import Family, Line, Optimal


@dataclass(frozen=True)
class OptimalALIE(Optimal):
    """mean + z std with the z found to move the server's aggregate farthest from the honest mean.

    The attackers know the honest updates and the server's `rule` and maximise || rule(honest, f
    copies of mean + z std) - mean || over z, of either sign, by a deterministic search of
    `evaluations` evaluations of the rule. It looks at `start` (None: the z of `ALIE`), at z of 1,
    0.7, 1.5, 4 and 2^20 with both signs, and then between those neighbours a < b of one sign where
    most may be found: the distance at a, times b/a or 1.5. At z = 1 the attackers are as far from
    the mean as an honest update (root mean square), which is near where most rules let go of them;
    there are several maxima, each just before a rule does. The best z met is taken, so it is never
    weaker than `start`. On 480 cases of `checks/attack_searches.py` the search is held against a
    fine grid. `std` and `quantile` of `ALIE` are no options here: both only say where on the same
    line the search starts, as `start` does. The rule is judged with the attackers' updates after
    the honest ones, which tells nothing of the order in which the server sees them. A random rule
    meets the same draws in each evaluation, those of a copy of `generator`: pass the server's own,
    which is left as it was, and the attackers know the draw; pass another and they do not. Updates
    of norms beyond 1e39, or all below 1e-39, are judged times a power of two, as if absolute
    parameters of the rule were scaled along.

    Defaults: `evaluations`, `start`: ours.

    Needs: the server's rule.

    Cost: one pass over the honest updates for their inner products, O(h^2 d), and `evaluations`
    times the server's rule; a rule that reads columns reads them each time.

    Reference: the idea is that of E. M. El Mhamdi, R. Guerraoui and S. Rouault, Distributed
    momentum for Byzantine-resilient stochastic gradient descent, ICLR 2021; the search is ours.

    >>> import torch
    >>> from wola.aggregation import TrimmedMean
    >>> honest = torch.tensor([[1.0], [2.0], [2.0], [3.0]])
    >>> sent = OptimalALIE()(honest, f=1, rule=TrimmedMean())
    >>> TrimmedMean()(torch.cat([honest, sent]), f=1)
    tensor([1.6667])
    """

    def plain(self, n: int, f: int) -> float:
        """The z of ALIE."""
        return alie_factor(n, f)

    def family(self, seen: Seen, rule: Rule) -> Family:
        """mean + z std; z counts units: std is as long as the honest updates are far from the mean.

        With mean + std in place of std every candidate's coefficients add up to one: what the
        updates have in common, however large, cancels.
        """
        honest, h = seen.honest, len(seen.honest)
        return Family(
            base=torch.cat([honest, mean_and_std(honest, 1.0, 1.0)[None]]),
            coefficients=lambda z: np.append(np.full(h, (1.0 - z) / h), z),
            row=lambda z: mean_and_std(honest, 1.0, z),
            line=Line(),
        )
