"""ByGARS++: weights of the workers that are learned from round to round."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from wola.aggregation.bygars import Length
from wola.aggregation.own_update_rule import OwnUpdateRule, cosines_and_lengths
from wola.aggregation.products import Floats
from wola.aggregation.rule import Solution
from wola.aggregation.space import Space
from wola.aggregation.view import Memory
from wola.ground.checks import check_choice, check_number

#: No weight, and nothing that is kept, is larger: sums of them stay in float64's range.
LARGEST = 2.0**1000


@dataclass(frozen=True)
class ByGARSPlusPlus(OwnUpdateRule):
    r"""The updates weighted by how well their earlier ones agreed with the server's own.

    .. math:: R_t = q_t X_t, \qquad q_{t+1} = (1 - \alpha)\, q_t + \alpha\, X_t g_0

    with X the updates and :math:`g_0` the update that the server makes of its own data as a worker
    would. q is kept from round to round, a number for each worker by name, and starts at 0: the
    first aggregate is 0, and so is the weight of a worker in its first round. An absent or dropped
    worker keeps its q. Weights may be negative and need not sum to 1: a worker whose updates point
    the wrong way is used the other way round, however many there are. q has the unit of a squared
    length; with `unit` updates and g_0 are scaled to length 1 first, so that it is an average
    cosine. With `length` "server" the aggregate is given the length of g_0, so that a learning rate
    means what it does for other rules; "own" leaves it.

    Accepts f < n: no count of Byzantine workers is used. Needs a reference, and a memory after the
    first round: ``rule.at(View(reference, workers=names, memory=outcome.memory))``.

    Defaults: `alpha`: ours, of those that a public driver of the method takes: 0.0005 on MNIST,
    0.01 on CIFAR-10 and 0.05 on synthetic data. It has the formula above; `unit`, `length`: ours.

    Cost: one pass over the updates and the server's own, O(n^2 d), and the server's gradient.

    Reference: J. Regatti, H. Chen and A. Gupta, ByGARS: Byzantine SGD with arbitrary number of
    attackers, 2020.

    >>> from wola.aggregation import ReferenceRows, View
    >>> server = ReferenceRows(mean=torch.tensor([[1.0, 0.0]]))
    >>> updates = torch.tensor([[2.0, 0.0], [-2.0, 0.0]])
    >>> rule = ByGARSPlusPlus(alpha=0.5)
    >>> first = rule.at(View(server)).aggregate(updates, f=1)
    >>> first.update, rule.at(View(server, memory=first.memory))(updates, f=1)
    (tensor([0., 0.]), tensor([4., 0.]))
    """

    remembers: ClassVar[Literal["nothing", "workers", "aggregate"]] = "workers"

    alpha: float = 0.01
    unit: bool = False
    length: Length = "own"

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, above=0, below=1)
        check_choice("length", self.length, get_args(Length))

    def weigh(self, space: Space, f: int) -> Floats:
        """q as it was kept, for updates of length 1 if `unit`, at the length asked for."""
        weights = self._kept(space)
        _, lengths, server = cosines_and_lengths(space)
        if self.unit:
            weights = np.where(lengths > 0.0, weights / np.where(lengths > 0.0, lengths, 1.0), 0.0)
        if self.length == "server":
            return _at_length(weights, space.gram, server)
        with np.errstate(over="ignore"):
            scaled = np.ldexp(weights, -space.exponent if self.unit else 0)
        return np.clip(scaled, -LARGEST, LARGEST)

    def remembered(self, solution: Solution, update: Tensor) -> Memory:
        """q after this round, for each worker of it."""
        space = solution.space
        if self.unit:
            along = cosines_and_lengths(space)[0]
        else:
            with np.errstate(over="ignore"):
                along = np.ldexp(space.with_marks.gram[-1, :-1], 2 * space.exponent)
        kept = (1 - self.alpha) * self._kept(space) + self.alpha * np.clip(along, -LARGEST, LARGEST)
        names = space.view.names(space.n)
        return {
            name: torch.tensor(q, dtype=torch.float64)
            for name, q in zip(names, kept.tolist(), strict=True)
        }

    def _kept(self, space: Space) -> Floats:
        names, memory = space.view.names(space.n), space.view.memory
        return np.array([float(memory[name]) if name in memory else 0.0 for name in names])


def _at_length(weights: Floats, gram: Floats, length: float) -> Floats:
    """The weights times what gives the combination this length; 0 if it has none."""
    largest = np.abs(weights).max(initial=0.0)
    if not largest > 0.0:
        return weights
    weights = weights / largest
    reach = np.sqrt(max(float(weights @ gram @ weights), 0.0))
    scaled: Floats = weights * (length / reach if reach > 0.0 else 0.0)
    return scaled
