"""CAF: a spectral filter that needs no bound on the honest covariance."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from wola.aggregation.rule import GramRule
from wola.aggregation.space import Floats, Space
from wola.ground.checks import check_choice

#: A removed update may set the pace so that hardly any weight goes in a step; then it ends here.
MOST_STEPS = 1000
#: Eigenvalues this close to the largest, relative to it, are equal to it up to rounding.
EQUAL = 1e-9
#: A step that moves neither the weights nor the eigenvalue by this share leads nowhere.
STALLED = 1e-6

Pace = Literal["all", "weighted"]


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

    Accepts f < n/2. Reference: Y. Allouah, R. Guerraoui and J. Stephan, Towards trustworthy
    federated learning with untrusted participants, ICML 2025.

    >>> import torch
    >>> CAF()(torch.tensor([[1.0], [1.0], [1.0], [90.0]]), f=1)
    tensor([1.])
    """

    pace: Pace = "all"

    def __post_init__(self) -> None:
        check_choice("pace", self.pace, get_args(Pace))

    def weigh(self, space: Space, f: int) -> Floats:
        """The weights of the best mean met while filtering."""
        gram, n = space.centred_gram, space.n
        shares = np.ones(n)
        best, chosen, before = np.inf, shares / n, (np.inf, np.inf)
        for _ in range(MOST_STEPS):
            total = float(shares.sum())
            if total <= (n - 2 * f) * (1 + EQUAL):
                break
            weights = shares / total
            value, scores = _spread(gram, weights)
            if value < best * (1 - EQUAL):
                best, chosen = value, weights
            largest = scores.max() if self.pace == "all" else scores[shares > 0.0].max()
            # What is left spreads no more than rounding can make equal updates spread.
            if value <= weights @ space.gram_errors or not largest > 0.0:
                break
            if total > before[0] * (1 - STALLED) and value > before[1] * (1 - STALLED):
                break
            before = total, value
            kept = 1.0 - scores / largest
            shares = shares * np.where(kept > EQUAL, kept, 0.0)
        return chosen


def _spread(gram: Floats, weights: Floats) -> tuple[float, Floats]:
    """The top eigenvalue of the weighted covariance, and each point's square along its vectors."""
    towards = gram @ weights
    centred = gram - towards[:, None] - towards[None, :] + weights @ towards
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(root[:, None] * centred * root[None, :])
    top = vectors[:, values >= values[-1] * (1 - EQUAL)]
    scores: Floats = ((centred @ (root[:, None] * top)) ** 2).sum(axis=1)
    return float(values[-1]), scores
