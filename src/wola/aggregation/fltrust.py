"""FLTrust: updates weighed by their angle to the server's own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from wola.aggregation.rule import GramRule
from wola.aggregation.space import Floats, Space
from wola.aggregation.view import View


@dataclass(frozen=True)
class FLTrust(GramRule):
    r"""The mean of the updates at the length of the server's own, weighted by their cosine to it.

    .. math:: R = \frac{1}{\sum_j t_j} \sum_i t_i \frac{\|g_0\|}{\|x_i\|} x_i, \qquad
        t_i = \max(0, \cos(x_i, g_0))

    with :math:`g_0` the update that the server makes of its own data as a worker would. Accepts
    f < n: no count of Byzantine workers is used. Where the formula says nothing the choice is ours:
    an update of length 0 has no weight, and if none has any, or g_0 is 0, the aggregate is 0 (no
    public code that falls back on the plain mean is followed in that). Weights need not sum to 1.
    Needs a reference: ``FLTrust().at(View(reference))``. Reference: X. Cao, M. Fang, J. Liu and
    N. Z. Gong, FLTrust: Byzantine-robust federated learning via trust bootstrapping, NDSS 2021.

    >>> import torch
    >>> from wola.aggregation import ReferenceRows, View
    >>> server = View(ReferenceRows(mean=torch.tensor([[1.0, 0.0]])))
    >>> FLTrust().at(server)(torch.tensor([[2.0, 0.0], [0.0, 9.0], [-5.0, 0.0]]), f=1)
    tensor([1., 0.])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"mean"})

    def max_byzantine(self, n: int) -> int:
        """All but one: f is not used."""
        return n - 1

    def landmarks(self, view: View) -> Tensor:
        """The server's own update, (1, d)."""
        return view.known.mean()

    def weigh(self, space: Space, f: int) -> Floats:
        """t_i ||g_0|| / ||x_i||, divided by the sum of all t."""
        gram = space.with_marks.gram
        lengths = np.sqrt(np.maximum(gram.diagonal(), 0.0))
        workers, server = lengths[:-1], lengths[-1]
        real = workers > 0.0
        if not server > 0.0 or not real.any():
            return np.zeros(space.n)
        shares = np.where(real, 1.0, 0.0)
        shares[real] *= np.clip(gram[-1, :-1][real] / workers[real] / server, 0.0, 1.0)
        total = shares.sum()
        if not total > 0.0:
            return np.zeros(space.n)
        weights: Floats = shares / total * server / np.where(real, workers, 1.0)
        return weights
