"""Zeno++: updates that a step of the server's own agrees with."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.own_update_rule import OwnUpdateRule, cosines_and_lengths
from wola.aggregation.products import Floats
from wola.aggregation.space import Space
from wola.ground.checks import check_number

#: What rounding may take from an update that passes exactly, relative to the terms of the test.
EDGE = 1e-12


@dataclass(frozen=True)
class ZenoPlusPlus(OwnUpdateRule):
    r"""The mean of the updates, at the length of the server's gradient, that pass its test.

    .. math:: u_i = x_i \frac{\|g_0\|}{\|x_i\|}, \qquad
        \eta \langle g_0, u_i \rangle - \rho \|u_i\|^2 + \eta \epsilon \ge 0

    with :math:`g_0` the server's own update and :math:`\eta` the learning rate of the reference. It
    is a threshold for the cosine, rho / lr - epsilon / ||g_0||^2. Accepts f < n: no count of
    Byzantine workers is used. Its authors treat updates one by one as they arrive; a round of all
    of them at once is our form of it, as are an aggregate of 0 where none passes and that an update
    of length 0 does not. Needs a reference: ``ZenoPlusPlus().at(View(reference))``.

    Defaults: `rho`, `epsilon`: its authors' public code, which takes ||x_i||^2 in the penalty where
    the formula has ||u_i||^2.

    Cost: one pass over the updates and the server's own, O(n^2 d), and the server's gradient.

    Reference: C. Xie, S. Koyejo and I. Gupta, Zeno++: robust fully asynchronous SGD, ICML 2020.

    >>> import torch
    >>> from wola.aggregation import ReferenceRows, View
    >>> server = View(ReferenceRows(mean=torch.tensor([[1.0, 0.0]]), lr=0.1))
    >>> ZenoPlusPlus().at(server)(torch.tensor([[2.0, 0.0], [0.0, 9.0], [-5.0, 0.0]]), f=1)
    tensor([1., 0.])
    """

    rho: float = 1e-3
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_number("rho", self.rho, least=0)
        check_number("epsilon", self.epsilon)

    def weigh(self, space: Space, f: int) -> Floats:
        """||g_0|| / ||x_i|| over the number of those that pass, 0 for the others."""
        cosines, lengths, server = cosines_and_lengths(space)
        if not server > 0.0:
            return np.zeros(space.n)
        rate, slack = space.view.known.lr, space.in_units(space.in_units(self.epsilon))
        margin = rate * cosines - self.rho + rate * slack / server**2
        passed = (lengths > 0.0) & (margin >= -EDGE * (rate + self.rho))
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        weights: Floats = passed * server / lengths / max(1, passed.sum())
        return weights
