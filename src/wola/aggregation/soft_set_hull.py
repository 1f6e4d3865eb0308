"""SoftSetHull: the shortest mixture of the means of sets of directions that agree."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wola.aggregation import _set_kernels
from wola.aggregation.hull_minimum import hull_minimum
from wola.aggregation.products import Floats
from wola.aggregation.rule import Solution
from wola.aggregation.space import Space
from wola.aggregation.subsets import SubsetRule, subsets
from wola.aggregation.view import Memory
from wola.ground.checks import check_number

#: An update this many times as short as the middle one has no direction.
NEGLIGIBLE = 2.0**-100
#: A sum of unit vectors, and a mixture of their means, count as at least so long.
SHORTEST_SUM, SHORTEST_MIXTURE = 1e-3, 0.02
#: What the squared weights cost beside the squared length: it makes the weights unique.
RIDGE = 1e-4
#: Sets whose p are no farther apart have the same.
TIED = 1e-10


@dataclass(frozen=True)
class SoftSetHull(SubsetRule):
    r"""The shortest mixture of the mean directions of all sets of n - f, dearer if they disagree.

    With :math:`u_i = x_i / \|x_i\|`, cosines :math:`C = U U^\top` and R the median of the lengths,
    the rule remembers for each pair of workers two average cosines, one with a ceiling:

    .. math:: D \leftarrow (1 - r) D + r\, C, \quad N \leftarrow (1 - r) N + r \min(C, \text{cap}),
        \quad r = \max(\text{pace}, 1 / (t + 1))

    t is the number of earlier rounds in which both sent, so that a new pair starts at C. A set S of
    n - f workers agrees as much as its least agreeing n - 2f members do with its sum:

    .. math:: q_i = \frac{1 + \sum_{k \in S, k \ne i} N_{ik}}{\sqrt{\sum_{k, l \in S} D_{kl}}},
        \qquad p(S) = \text{mean of the } n - 2f \text{ smallest } q_i

    Of the sets with :math:`p(S) \ge \min(\text{least}, \max p)`, and with :math:`m_S` the mean of u
    over S,

    .. math:: a = \sum_S \lambda_S m_S = \sum_i w_i u_i \quad\text{minimises}\quad
        \tfrac12 \|a\|^2 + \text{price} \sum_S \lambda_S (\max p - p(S))
        + \tfrac12 10^{-4} \|w\|^2

    over all shares :math:`\lambda` (the last term is there to make w unique), and the result is
    :math:`R\, a \sqrt{\max(1, \text{length} / \max(\|a\|, 0.02))}`, never longer than R.

    One of the sets is that of the honest workers. What is short and near all sets has a part along
    each, so liars who want the result to turn must find a set that agrees nearly as well as the
    honest one; the ceiling limits what copies of one lie gain by agreeing fully, and the memory
    tells those who agree in every round from those who do by chance. It takes the place of
    clipping, mixing and rule together: use it with nothing before it.

    Nothing is proven: n - f equal updates do not come back as they are, weights need not sum to 1,
    and liars who agree with each other and with n - 2f honest workers can shorten the step and turn
    it. An update of length 0, or 2^100 times as short as the middle one, has direction 0; a sum of
    u shorter than 0.001 counts as 0.001 long. Searches all sets, so that its time grows
    exponentially with n, and refuses above 1,000,000 of them; at n = 17 and f = 8 there are 24,310.
    Accepts f < n/2. The minimum is found exactly and is unique, so that there are no ties. Memory:
    ``SoftSetHull().at(View(workers=names, memory=outcome.memory))``. See docs/beyond.md.

    Defaults: `pace`, `cap`, `least`, `price`, `length`: ours.

    Cost: one pass over the updates for their inner products, O(n^2 d), then all subsets of n - f
    workers.

    Reference: ours.

    >>> updates = torch.tensor([[2.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    >>> SoftSetHull()(updates, f=0)
    tensor([1.3333, 0.6667])
    """

    remembers: ClassVar[Literal["pairs"]] = "pairs"

    pace: float = 0.03
    cap: float = 0.5
    least: float = 0.2
    price: float = 2.0
    length: float = 0.65

    def __post_init__(self) -> None:
        check_number("pace", self.pace, above=0, most=1)
        check_number("cap", self.cap, least=0, most=1)
        check_number("least", self.least, least=0, most=1)
        check_number("price", self.price, least=0)
        check_number("length", self.length, least=0, most=1)

    def weigh(self, space: Space, f: int) -> Floats:
        """The part of each worker in a, over the length of its update, at the length asked for."""
        cosines, shrink = _directions(space)
        _, plain, capped = self._averages(space, cosines)
        sets = sets_by_absence(space.n, f)
        agreement = np.empty(len(sets))
        _set_kernels.coherences(sets, plain, capped, SHORTEST_SUM, agreement)
        best = agreement.max()
        near = agreement >= min(self.least, best) - TIED
        costs = self.price * (best - agreement[near])
        parts = hull_minimum(cosines + RIDGE * np.eye(space.n), sets[near], costs)
        reach = max(np.sqrt(max(float(parts @ cosines @ parts), 0.0)), SHORTEST_MIXTURE)
        weights: Floats = parts * shrink * np.sqrt(max(1.0, self.length / reach))
        return weights

    def remembered(self, solution: Solution, update: Tensor) -> Memory:
        """For each pair of workers of this round: rounds together, and both average cosines."""
        space = solution.space
        counts, plain, capped = self._averages(space, _directions(space)[0])
        keys = _keys(space)
        kept = np.stack([counts + 1.0, plain, capped], axis=-1)
        return {key: torch.from_numpy(kept[place].copy()) for place, key in keys.items()}

    def _averages(self, space: Space, cosines: Floats) -> tuple[Floats, Floats, Floats]:
        """Earlier rounds together, the average cosines, and those with a ceiling: (n, n) each."""
        before = np.zeros((space.n, space.n, 3))
        for (i, j), key in _keys(space).items():
            if key in space.view.memory:
                before[i, j] = before[j, i] = space.view.memory[key].tolist()
        counts = before[..., 0]
        pace = np.maximum(self.pace, 1.0 / (counts + 1.0))
        plain = (1.0 - pace) * before[..., 1] + pace * cosines
        capped = (1.0 - pace) * before[..., 2] + pace * np.minimum(cosines, self.cap)
        return counts, plain, capped


@lru_cache(maxsize=4)
def sets_by_absence(n: int, f: int) -> NDArray[np.int32]:
    """All sets of n - f of n workers, each by the f that it lacks: (s, f), not to be written to."""
    sets = np.concatenate([batch.astype(np.int32) for batch in subsets(n, f)])
    sets.flags.writeable = False
    return sets


def pair_name(first: str | int, second: str | int) -> str:
    """What the memory of two workers is kept under, whichever is first.

    >>> pair_name("b", 7), pair_name(7, "b")
    ("'b' & 7", "'b' & 7")
    """
    return " & ".join(sorted((repr(first), repr(second))))


def _keys(space: Space) -> dict[tuple[int, int], str]:
    names = space.view.names(space.n)
    return {
        (i, j): pair_name(names[i], names[j]) for i in range(space.n) for j in range(i, space.n)
    }


def _directions(space: Space) -> tuple[Floats, Floats]:
    """Cosines (n, n), and R over each length, (n,): 0 for what has no direction."""
    squares, errors = space.gram.diagonal(), space.energy_errors
    lengths = np.sqrt(np.maximum(squares, 0.0))
    middle = float(np.median(lengths))
    real = (squares > errors) & (lengths > NEGLIGIBLE * middle)
    divisors = np.where(real, lengths, 1.0)
    cosines = np.clip(space.gram / divisors[:, None] / divisors[None, :], -1.0, 1.0)
    cosines *= real[:, None] & real[None, :]
    np.fill_diagonal(cosines, real)
    return cosines, np.where(real, middle / divisors, 0.0)
