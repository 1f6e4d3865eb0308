"""MoNNA: the updates nearest to the server's own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator, Tensor

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule, Solution
from wola.aggregation.selection import smallest
from wola.aggregation.space import Space
from wola.aggregation.view import View


@dataclass(frozen=True)
class MoNNA(GramRule):
    r"""The mean of the n - f updates nearest to the server's own, and of that one.

    .. math:: R = \frac{1}{n - f + 1} \Big(g_0 + \sum_{i \in N} x_i\Big), \qquad
        N \text{ the } n - f \text{ updates with the smallest } \|x_i - g_0\|

    with :math:`g_0` the update that the server makes of its own data as a worker would. Updates
    tied at the edge share the weight that is left. The method is one of nodes without a server:
    each averages the vectors nearest to its own, of which its own is one. To let a server do so,
    with n workers beside it, is our choice. With ``own=False`` its update only chooses and is not
    averaged in, so that the weights of the workers sum to 1. Accepts f < n/2. Needs a reference:
    ``MoNNA().at(View(reference))``.

    Defaults: `own`: its authors, whose nodes average their own vector in.

    Cost: one pass over the updates and the server's own, O(n^2 d), and the server's gradient.

    Reference: S. Farhadkhani, R. Guerraoui, N. Gupta, L.-N. Hoang, R. Pinot and J. Stephan, Robust
    collaborative learning with linear gradient overhead, ICML 2023.

    >>> import torch
    >>> from wola.aggregation import ReferenceRows, View
    >>> server = View(ReferenceRows(mean=torch.tensor([[1.0]])))
    >>> updates = torch.tensor([[2.0], [3.0], [-50.0]])
    >>> MoNNA().at(server)(updates, f=1), MoNNA(own=False).at(server)(updates, f=1)
    (tensor([2.]), tensor([2.5000]))
    """

    needs: ClassVar[frozenset[str]] = frozenset({"mean"})

    own: bool = True

    def landmarks(self, view: View) -> Tensor:
        """The server's own update, (1, d)."""
        return view.known.mean()

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the n - f nearest; those tied at the edge share."""
        seen = space.with_marks
        distances, errors = seen.squared_distances[-1, :-1], seen.distance_errors[-1, :-1]
        return smallest(distances, space.n - f, errors)

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """The weights of the nearest and, after them, that of the server's own update."""
        nearest = self.weigh(space, f)
        if not self.own:
            return Solution(space, weights=nearest)
        count = space.n - f
        weights = np.append(count * nearest, 1.0) / (count + 1)
        return Solution(space.with_marks, weights=weights)
