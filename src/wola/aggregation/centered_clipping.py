"""Centred clipping."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import Generator, Tensor

from wola.aggregation.finite_norm import with_finite_norm
from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule, Solution
from wola.aggregation.space import Space
from wola.aggregation.view import Memory, View
from wola.ground.checks import check_number, check_whole

#: What the last aggregate is called in the memory.
LAST = "aggregate"


@dataclass(frozen=True)
class CenteredClipping(GramRule):
    """From v = 0, `iterations` steps v += (1/n) sum_i (x_i - v) min(1, tau / ||x_i - v||).

    Moves by at most tau a step whatever the Byzantine workers send; accepts f < n/2. With `history`
    it starts at the aggregate of the round before instead of 0, as its authors do, and at 0 in the
    first: ``rule.at(View(memory=outcome.memory))``. Weights need not sum to 1, and with history do
    not tell all: the last aggregate has a share of its own. Every update counts, so there are no
    ties.

    Defaults: `tau`: ours; `iterations`: its authors, who take one step a round; `history`: ours, so
    that it needs no memory. Its authors start at the last aggregate.

    Needs: with `history` a memory of its last aggregate.

    Cost: one pass over the updates for their inner products, O(n^2 d), with the last aggregate as
    one more row.

    Reference: S. P. Karimireddy, L. He and M. Jaggi, Learning from history for Byzantine robust
    optimization, ICML 2021.

    >>> import torch
    >>> from wola.aggregation import View
    >>> updates = torch.tensor([[0.5], [0.5], [8.0]])
    >>> CenteredClipping(tau=1.0)(updates, f=1)
    tensor([0.6667])
    >>> rule = CenteredClipping(tau=1.0, history=True)
    >>> first = rule.aggregate(updates, f=1)
    >>> rule.at(View(memory=first.memory))(updates, f=1)
    tensor([0.8889])
    """

    tau: float = 10.0
    iterations: int = 1
    history: bool = False

    def __post_init__(self) -> None:
        check_number("tau", self.tau, above=0)
        check_whole("iterations", self.iterations, least=1)

    @property
    def remembers(self) -> Literal["nothing", "workers", "aggregate"]:  # type: ignore[override]
        """The last aggregate, with `history`."""
        return "aggregate" if self.history else "nothing"

    def landmarks(self, view: View) -> Tensor | None:
        """The aggregate of the round before, (1, d)."""
        return view.memory[LAST][None] if self.history and LAST in view.memory else None

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """Weights over the updates and, if there is one, the last aggregate."""
        points = space.with_marks if space.marks else space
        return Solution(points, weights=self.weigh(space, f))

    def weigh(self, space: Space, f: int) -> Floats:
        """The weights of the updates in v after the last step, then that of the last aggregate."""
        gram = (space.with_marks if space.marks else space).gram
        n, tau = space.n, space.in_units(self.tau)
        weights = np.append(np.zeros(n), np.ones(space.marks))
        for _ in range(self.iterations):
            towards = gram @ weights
            squared = gram.diagonal() - 2 * towards + weights @ towards
            lengths = np.sqrt(np.maximum(squared[:n], 0.0))
            pull = tau / np.maximum(lengths, tau) / n
            weights = weights * (1.0 - pull.sum()) + np.append(pull, np.zeros(space.marks))
        return weights

    def remembered(self, solution: Solution, update: Tensor) -> Memory:
        """The aggregate, with `history`."""
        if not self.history:
            return {}
        full = update.float() if update.dtype.itemsize < 4 else update.clone()
        return {LAST: with_finite_norm(full)}
