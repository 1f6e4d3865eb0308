"""FLTrust: updates weighed by their angle to the server's own."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.own_update_rule import OwnUpdateRule, cosines_and_lengths
from wola.aggregation.products import Floats
from wola.aggregation.space import Space


@dataclass(frozen=True)
class FLTrust(OwnUpdateRule):
    r"""The mean of the updates at the length of the server's own, weighted by their cosine to it.

    .. math:: R = \frac{1}{\sum_j t_j} \sum_i t_i \frac{\|g_0\|}{\|x_i\|} x_i, \qquad
        t_i = \max(0, \cos(x_i, g_0))

    with :math:`g_0` the update that the server makes of its own data as a worker would. Accepts
    f < n: no count of Byzantine workers is used. Where the formula says nothing the choice is ours:
    an update of length 0 has no weight, and if none has any, or g_0 is 0, the aggregate is 0 (no
    public code that falls back on the plain mean is followed in that). Weights need not sum to 1.
    Needs a reference: ``FLTrust().at(View(reference))``.

    Cost: one pass over the updates and the server's own, O(n^2 d), and the server's gradient.

    Reference: X. Cao, M. Fang, J. Liu and N. Z. Gong, FLTrust: Byzantine-robust federated learning
    via trust bootstrapping, NDSS 2021.

    >>> import torch
    >>> from wola.aggregation import ReferenceRows, View
    >>> server = View(ReferenceRows(mean=torch.tensor([[1.0, 0.0]])))
    >>> FLTrust().at(server)(torch.tensor([[2.0, 0.0], [0.0, 9.0], [-5.0, 0.0]]), f=1)
    tensor([1., 0.])
    """

    def weigh(self, space: Space, f: int) -> Floats:
        """t_i ||g_0|| / ||x_i||, divided by the sum of all t."""
        cosines, lengths, server = cosines_and_lengths(space)
        shares = np.maximum(cosines, 0.0)
        total = shares.sum()
        if not total > 0.0:
            return np.zeros(space.n)
        weights: Floats = shares / total * server / np.where(lengths > 0.0, lengths, 1.0)
        return weights
