"""CAF: a spectral filter that needs no bound on the honest covariance."""

from dataclasses import dataclass
from typing import get_args

import numpy as np

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.space import Space
from wola.aggregation.spectral_filter import EQUAL, Pace, filtering
from wola.ground.checks import check_choice

#: A step that moves neither the weights nor the eigenvalue by this share leads nowhere.
STALLED = 1e-6


@dataclass(frozen=True)
class CAF(GramRule):
    """Covariance-bound agnostic filter: down-weight what spreads most until n - 2f is left.

    With c_i = 1 at first, while sum_i c_i > n - 2f: mu is the mean weighted by c, v the top
    eigenvector of the weighted covariance, tau_i = <v, x_i - mu>^2, and c_i shrinks by 1 -
    tau_i / max tau. The mean with the smallest top eigenvalue on the way is returned, the first
    of equals. Where several directions share the top eigenvalue, tau_i is the squared length of
    x_i - mu in all of them, so that no choice among them is left to chance.

    max tau is over `pace`: "all" updates, as in the public library of its authors (ByzFL), or
    those that still have weight ("weighted"), as in the filters it descends from. With "all" an
    update that has lost its weight can still set the pace, and if it lies far away hardly any
    weight goes in a step: the filter then ends when a step changes nothing any more, or after
    1,000 steps. With "weighted" each step removes one update at least, so n steps are enough.

    Accepts f < n/2.

    Defaults: `pace`: its authors' public code.

    Cost: one pass over the updates for their inner products, O(n^2 d), then an eigenvector of
    O(n^3) in each step.

    Reference: Y. Allouah, R. Guerraoui and J. Stephan, Towards trustworthy federated learning with
    untrusted participants, ICML 2025.

    >>> import torch
    >>> CAF()(torch.tensor([[1.0], [1.0], [1.0], [90.0]]), f=1)
    tensor([1.])
    """

    pace: Pace = "all"

    def __post_init__(self) -> None:
        check_choice("pace", self.pace, get_args(Pace))

    def weigh(self, space: Space, f: int) -> Floats:
        """The weights of the best mean met while filtering."""
        n = space.n
        best, chosen, before = np.inf, np.full(n, 1.0 / n), (np.inf, np.inf)
        for mass, weights, spread in filtering(space, self.pace):
            if mass <= (n - 2 * f) * (1 + EQUAL):
                break
            if spread < best * (1 - EQUAL):
                best, chosen = spread, weights
            if mass > before[0] * (1 - STALLED) and spread > before[1] * (1 - STALLED):
                break
            before = mass, spread
        return chosen
