"""RAGE: a spectral filter that stops at a bound on the variance, or when n - 2f is left."""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.space import Space
from wola.aggregation.spectral_filter import EQUAL, filtering
from wola.ground.checks import check_number


@dataclass(frozen=True)
class RAGE(GramRule):
    """Robust gradient estimation: down-weight what spreads most, and take the mean of the rest.

    With c_i = 1 at first: mu is the mean weighted by c, lambda and v are the top eigenvalue and
    eigenvector of the weighted covariance, tau_i = <v, x_i - mu>^2, and c_i shrinks by 1 - tau_i /
    max tau over the updates that still have weight. The filter stops once lambda <= `bound`, a
    bound on the variance of honest updates in any direction, and in any case before the step that
    would leave less than n - 2f of sum_i c_i; the last mean is returned. `CAF` takes the same
    steps, and returns the mean with the smallest lambda on the way.

    The steps are those of public code and of the filters it descends from. The method is told of
    with a bound on the variance of honest updates; stopping at n - 2f, the default without one, is
    our choice. The rule needs no data at the server.

    Proven for f <= n/4; accepts f < n/2.

    Defaults: `bound`: ours, since a server does not know the variance of honest updates.

    Cost: one pass over the updates for their inner products, O(n^2 d), then an eigenvector of
    O(n^3) in each of at most n steps.

    Reference: D. Data and S. Diggavi, Byzantine-resilient high-dimensional SGD with local
    iterations on heterogeneous data, ICML 2021; J. Steinhardt, M. Charikar and G. Valiant,
    Resilience: a criterion for learning in the presence of arbitrary outliers, ITCS 2018.

    >>> import torch
    >>> RAGE()(torch.tensor([[1.0], [1.0], [1.0], [90.0]]), f=1)
    tensor([1.])
    """

    bound: float | None = None

    def __post_init__(self) -> None:
        if self.bound is not None:
            check_number("bound", self.bound, least=0)

    def weigh(self, space: Space, f: int) -> Floats:
        """The weights of the last mean."""
        n = space.n
        # Lengths are compared, since the square of the unit of length may leave float64's range.
        enough = -inf if self.bound is None else space.in_units(sqrt(self.bound))
        chosen = np.full(n, 1.0 / n)
        for mass, weights, spread in filtering(space, "weighted"):
            if mass < (n - 2 * f) * (1 - EQUAL):
                break
            chosen = weights
            if sqrt(max(spread, 0.0)) <= enough:
                break
        return chosen
