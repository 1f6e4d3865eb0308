"""CAF: a spectral filter that needs no bound on the honest covariance."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.rule import GramRule
from wola.aggregation.space import Floats, Space


@dataclass(frozen=True)
class CAF(GramRule):
    """Covariance-bound-agnostic filter: down-weight what spreads most until n - 2f is left.

    With c_i = 1 at first, while sum_i c_i > n - 2f: mu is the mean weighted by c, v the top
    eigenvector of the weighted covariance, tau_i = <v, x_i - mu>^2, and c_i shrinks by 1 -
    tau_i / max tau. The mean with the smallest top eigenvalue on the way is returned. Accepts
    f < n/2. Reference: Y. Allouah, R. Guerraoui, N. Gupta, A. Jellouli, G. Rizk and J. Stephan,
    Towards trustworthy federated learning with untrusted participants, ICML 2025.

    >>> import torch
    >>> CAF()(torch.tensor([[1.0], [1.0], [1.0], [90.0]]), f=1)
    tensor([1.])
    """

    def weigh(self, space: Space, f: int) -> Floats:
        """The weights of the best mean met while filtering."""
        gram = space.centred_gram
        shares = np.ones(space.n)
        best, chosen = np.inf, shares / space.n
        while shares.sum() > space.n - 2 * f:
            weights = shares / shares.sum()
            towards = gram @ weights
            centred = gram - towards[:, None] - towards[None, :] + weights @ towards
            root = np.sqrt(weights)
            values, vectors = np.linalg.eigh(root[:, None] * centred * root[None, :])
            if values[-1] < best:
                best, chosen = float(values[-1]), weights
            scores = (centred @ (root * vectors[:, -1])) ** 2
            largest = scores[shares > 0.0].max()
            if not largest > 0.0:
                break
            shares = shares * np.clip(1.0 - scores / largest, 0.0, None)
        return chosen
