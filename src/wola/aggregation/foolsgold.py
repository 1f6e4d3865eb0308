"""FoolsGold: workers whose updates have long been alike lose their weight."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from wola.aggregation.finite_norm import has_finite_peak, with_finite_norm
from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule, Solution
from wola.aggregation.source import times_power_of_two
from wola.aggregation.space import Space
from wola.aggregation.view import Memory, View
from wola.ground.checks import check_number

#: The largest share before the logit, which has no value at 1.
NEARLY_ONE = 0.99


@dataclass(frozen=True)
class FoolsGold(GramRule):
    r"""The updates weighted by how little the sum of a worker's updates is like another worker's.

    .. math:: H_i \leftarrow H_i + x_i, \quad c_{ij} = \cos(H_i, H_j), \quad
        m_i = \max_{j \ne i}(c_{ij}, 0) + \epsilon, \quad
        a_i = 1 - \max_{j \ne i}\big(\min(1, m_i / m_j)\, c_{ij}, 0\big)

    then a is cut to [0, 1] and divided by its maximum, at most 0.99 is left of it, and
    :math:`a_i \leftarrow \kappa (\ln(a_i / (1 - a_i) + \epsilon) + 1/2)`, cut to [0, 1] again. The
    aggregate is :math:`\sum a_i x_i / \sum a_i`, or with `total` :math:`\sum a_i x_i`. H is kept
    from round to round, a vector for each worker by name; one that is absent or dropped keeps its
    own.

    It is made against sybils that send nearly the same, any number of them, and takes alike for
    sybil: where honest updates are alike and liars differ, it listens to the liars. (Its authors
    judge it against targeted poisoning; here it meets untargeted attacks.) Accepts f < n: no count
    of Byzantine workers is used. Memory: ``FoolsGold().at(View(workers=names,
    memory=outcome.memory))``.

    Our choices: an aggregate of 0 if all are alike; a cosine of 0 for a history of 0; that all
    coordinates count alike, where one version of its authors' code weighs features; and that every
    a above 0.99 counts as 0.99, where they replace 1 alone, which makes no difference for
    kappa >= 0.2 and lets rounding decide nothing.

    Defaults: `kappa`, `eps`: its authors' public code; `total`: ours, since learning rates here are
    for means. Its authors' public code takes the sum.

    Cost: one pass over the histories for their inner products, O(n^2 d), and one over the updates;
    n histories are kept.

    Reference: C. Fung, C. J. M. Yoon and I. Beschastnikh, The limitations of federated learning in
    sybil settings, RAID 2020.

    >>> FoolsGold()(torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [3.0, 3.0]]), f=2)
    tensor([0.5000, 1.0000])
    """

    remembers: ClassVar[Literal["nothing", "workers", "aggregate"]] = "workers"

    kappa: float = 1.0
    eps: float = 1e-5
    total: bool = False

    def __post_init__(self) -> None:
        check_number("kappa", self.kappa, above=0)
        check_number("eps", self.eps, least=0)

    def max_byzantine(self, n: int) -> int:
        """All but one: f is not used."""
        return n - 1

    def landmarks(self, view: View) -> Tensor | None:
        """The sums of the earlier updates of those who have sent some, (r, d)."""
        return torch.stack(list(view.memory.values())) if view.memory else None

    def weigh(self, space: Space, f: int) -> Floats:
        """a_i, or a_i over the sum of all a."""
        weights = self._shares(_cosines(_histories(space)))
        total = weights.sum()
        return weights if self.total or not total > 0.0 else weights / total

    def _shares(self, cosines: Floats) -> Floats:
        most = cosines.max(axis=1) + self.eps
        with np.errstate(divide="ignore", invalid="ignore"):
            pardon = np.where(most[:, None] < most[None, :], most[:, None] / most[None, :], 1.0)
        apart = np.clip(1.0 - (cosines * pardon).max(axis=1), 0.0, 1.0)
        farthest = apart.max()
        if not farthest > 0.0:
            return np.zeros(len(cosines))
        apart = np.minimum(apart / farthest, NEARLY_ONE)
        with np.errstate(divide="ignore"):
            logits = np.log(apart / (1.0 - apart) + self.eps) + 0.5
        shares: Floats = np.clip(self.kappa * logits, 0.0, 1.0)
        return shares

    def remembered(self, solution: Solution, update: Tensor) -> Memory:
        """The sum of all updates of each worker of this round, (d,)."""
        space = solution.space
        sums = _sums(space)
        if not all(map(has_finite_peak, sums)):
            # Half of a sum that overflows has its direction, which is all that counts.
            pairs = zip(sums, _sums(space, exponent=-1), strict=True)
            sums = [whole if has_finite_peak(whole) else half for whole, half in pairs]
        names = space.view.names(space.n)
        return {name: with_finite_norm(total) for name, total in zip(names, sums, strict=True)}


def _histories(space: Space) -> Space:
    """The sums of each worker's updates with this round's, as points."""
    if not space.marks:
        return space
    place = {name: space.n + k for k, name in enumerate(space.view.memory)}
    sums = np.eye(space.n, space.n + space.marks)
    for i, name in enumerate(space.view.names(space.n)):
        if name in place:
            sums[i, place[name]] = 1.0
    return space.with_marks.mix(sums, space.view)


def _sums(space: Space, exponent: int = 0) -> list[Tensor]:
    """The sum of each worker's updates with this round's, times 2^exponent: tensors (d,)."""
    before = [space.view.memory.get(name) for name in space.view.names(space.n)]
    sums: list[Tensor] = []
    first = 0
    for block in space.blocks():
        rows = times_power_of_two(block, space.exponent + exponent)
        if not sums:
            sums = [rows.new_empty(space.columns) for _ in before]
        last = first + rows.shape[1]
        for row, earlier, total in zip(rows, before, sums, strict=True):
            total[first:last] = row
            if earlier is not None:
                total[first:last] += times_power_of_two(earlier[first:last].to(row), exponent)
        first = last
    return sums


def _cosines(space: Space) -> Floats:
    """Cosines of the points, (m, m), exactly 1 where rounding cannot tell; 0 on the diagonal."""
    squares, errors = space.gram.diagonal(), space.energy_errors
    real = squares > errors
    lengths = np.sqrt(np.where(real, squares, 1.0))
    cosines = np.clip(space.gram / lengths[:, None] / lengths[None, :], -1.0, 1.0)
    slack = np.where(real, errors / lengths**2, 0.0)
    cosines = np.where(cosines >= 1.0 - slack[:, None] - slack[None, :], 1.0, cosines)
    cosines *= real[:, None] & real[None, :]
    np.fill_diagonal(cosines, 0.0)
    return cosines
