"""ByGARS: weights of the workers learned on data of the server's own."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule, Solution
from wola.aggregation.space import Space
from wola.ground.checks import check_choice, check_number, check_whole

#: Whose length the aggregate has.
Length = Literal["own", "server"]


@dataclass(frozen=True)
class ByGARS(GramRule):
    r"""The combination of the updates that lowers the server's own loss: weights by meta-steps.

    .. math:: q \leftarrow q + \alpha \eta X \nabla l(\theta - \eta\, q X), \qquad R = q X

    from q = 0 in each round, `steps` times, with X the updates, :math:`l` the loss on the server's
    data and :math:`\eta` the learning rate; with `unit` updates and gradients are scaled to length
    1 first. Weights may be negative and need not sum to 1: an update that points the wrong way is
    used the other way round. With `length` "server" the aggregate is given the length of the
    server's own gradient, so that its learning rate means what it does for other rules; "own"
    leaves it. Accepts f < n: no count of Byzantine workers is used. Needs a reference with data and
    a model.

    Defaults: `steps`, `alpha`, `unit`: public code of a baseline, where q starts at 0 in every
    round too. A public driver of the method sweeps one to four steps, with an alpha of 0.05 that
    decays; `length`: ours.

    Cost: `steps` gradients on the server's data, and two passes over the updates for each.

    Reference: J. Regatti, H. Chen and A. Gupta, ByGARS: Byzantine SGD with arbitrary number of
    attackers, 2020.

    >>> ByGARS().max_byzantine(9)
    8
    """

    needs: ClassVar[frozenset[str]] = frozenset({"losses"})

    steps: int = 3
    alpha: float = 0.05
    unit: bool = True
    length: Length = "own"

    def __post_init__(self) -> None:
        check_whole("steps", self.steps, least=1)
        check_number("alpha", self.alpha, above=0)
        check_choice("length", self.length, get_args(Length))

    def max_byzantine(self, n: int) -> int:
        """All but one: f is not used."""
        return n - 1

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """Weights, and the space they are over."""
        return Solution(space, weights=self.weigh(space, f))

    def weigh(self, space: Space, f: int) -> Floats:
        """The weights q after the last meta-step."""
        reference = space.view.known
        lengths = np.ldexp(space.norms, space.exponent)
        scales = np.where(lengths > 0.0, 1.0 / np.where(lengths > 0.0, lengths, 1.0), 0.0)
        if not self.unit:
            scales = np.ones(space.n)
        q = np.zeros(space.n)
        first = 0.0
        for _ in range(self.steps):
            gradient = reference.gradient(self._step(space, q * scales))
            size = float(torch.linalg.vector_norm(gradient.double()))
            first = first or size
            along = np.ldexp(space.products_with(gradient), 2 * space.exponent) * scales
            if self.unit:
                along = along / size if size > 0.0 else np.zeros(space.n)
            q = q + self.alpha * reference.lr * along
        weights: Floats = q * scales
        if self.length == "server":
            squared = max(float(weights @ space.gram @ weights), 0.0)
            reach = math.ldexp(math.sqrt(squared), space.exponent)
            weights = weights * (first / reach) if reach > 0.0 else weights
        return weights

    def _step(self, space: Space, weights: Floats) -> Tensor:
        return space.unscaled(space.combination(weights))
