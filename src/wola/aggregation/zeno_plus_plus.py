"""Zeno++: updates that a step of the server's own agrees with."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from wola.aggregation.rule import GramRule
from wola.aggregation.space import Floats, Space
from wola.aggregation.view import View
from wola.ground.checks import check_number

#: What rounding may take from an update that passes exactly, relative to the terms of the test.
EDGE = 1e-12


@dataclass(frozen=True)
class ZenoPlusPlus(GramRule):
    r"""The mean of the updates, at the length of the server's gradient, that pass its test.

    .. math:: u_i = x_i \frac{\|g_0\|}{\|x_i\|}, \qquad
        \eta \langle g_0, u_i \rangle - \rho \|u_i\|^2 + \eta \epsilon \ge 0

    with :math:`g_0` the server's own update and :math:`\eta` the learning rate of the reference. It
    is a threshold for the cosine, rho / lr - epsilon / ||g_0||^2. Accepts f < n: no count of
    Byzantine workers is used. `rho` and `epsilon` are those of its authors' public code, which
    takes ||x_i||^2 in the penalty where the formula has ||u_i||^2. Its authors treat updates one by
    one as they arrive; a round of all of them at once is our form of it, as are an aggregate of 0
    where none passes and that an update of length 0 does not. Needs a reference:
    ``ZenoPlusPlus().at(View(reference))``. Reference: C. Xie, S. Koyejo and I. Gupta, Zeno++:
    robust fully asynchronous SGD, ICML 2020.

    >>> import torch
    >>> from wola.aggregation import ReferenceRows, View
    >>> server = View(ReferenceRows(mean=torch.tensor([[1.0, 0.0]]), lr=0.1))
    >>> ZenoPlusPlus().at(server)(torch.tensor([[2.0, 0.0], [0.0, 9.0], [-5.0, 0.0]]), f=1)
    tensor([1., 0.])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"mean"})

    rho: float = 1e-3
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_number("rho", self.rho, least=0)
        check_number("epsilon", self.epsilon)

    def max_byzantine(self, n: int) -> int:
        """All but one: f is not used."""
        return n - 1

    def landmarks(self, view: View) -> Tensor:
        """The server's own update, (1, d)."""
        return view.known.mean()

    def weigh(self, space: Space, f: int) -> Floats:
        """||g_0|| / ||x_i|| over the number of those that pass, 0 for the others."""
        gram = space.with_marks.gram
        lengths = np.sqrt(np.maximum(gram.diagonal(), 0.0))
        workers, server = lengths[:-1], lengths[-1]
        real = workers > 0.0
        if not server > 0.0:
            return np.zeros(space.n)
        cosines = gram[-1, :-1] / np.where(real, workers, 1.0) / server
        rate, slack = space.view.known.lr, space.in_units(space.in_units(self.epsilon))
        margin = rate * cosines - self.rho + rate * slack / server**2
        passed = real & (margin >= -EDGE * (rate + self.rho))
        weights: Floats = passed * server / np.where(real, workers, 1.0) / max(1, passed.sum())
        return weights
