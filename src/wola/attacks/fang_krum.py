"""Fang's attack on Krum."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar, get_args

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.krum import Krum
from wola.aggregation.products import row_energies
from wola.aggregation.rule import Rule
from wola.aggregation.source import times_power_of_two
from wola.attacks._judge import Judge
from wola.attacks._moments import mean_and_std
from wola.attacks._scale import exponent_of
from wola.attacks.attack import ColludingAttack, Knowledge, Seen, look
from wola.ground.checks import check_choice

#: Below this share of its first value lambda is not halved any more.
SMALLEST = 1e-5


@dataclass(frozen=True)
class FangKrum(ColludingAttack):
    """-lambda sign(mean) with the largest lambda, of halved ones, at which the rule follows it.

    lambda starts at its bound, [min_i sum of the distances of x_i to its n - f - 2 nearest honest
    others] / ((n - 2f - 1) sqrt d) + max_i ||x_i|| / sqrt d, and is halved until the server's
    `rule` gives the attackers weight; without a rule, or with one that has no weights, until Krum
    does. n - 2f - 1 counts as 1 where it is 0, and halving ends at 1e-5 of the bound instead of an
    absolute 1e-5, so that scale decides nothing (both our choice). With `knowledge` "full" the
    attackers know the honest updates. They send one and the same update.

    With "partial" they know nothing but `own`, the f updates that they would send if they were
    honest, and take these for the honest ones: lambda is halved until Krum chooses one crafted
    update beside them. Where it never does, one more copy of the crafted update is added, and
    lambda starts again at the bound. That Krum and the bound count the copies as the liars there,
    and that it is Krum whatever the server's rule, is our choice.

    Defaults: `knowledge`: ours. Its authors have both.

    Needs: the server's rule; without it Krum stands in its place.

    Cost: one pass over the honest updates for their inner products, O(h^2 d), however often lambda
    is halved.

    Reference: M. Fang, X. Cao, J. Jia and N. Z. Gong, Local model poisoning attacks to
    Byzantine-robust federated learning, USENIX Security 2020.

    >>> import torch
    >>> honest = torch.tensor([[1.0], [2.0], [3.0], [6.0]])
    >>> sent = FangKrum()(honest, f=3)
    >>> Krum()(torch.cat([honest, sent]), f=3) == sent[0]
    tensor([True])
    >>> FangKrum(knowledge="partial")(honest, f=3, own=-honest[:3]).sign()
    tensor([[1.],
            [1.],
            [1.]])
    """

    scale_equivariant: ClassVar[bool] = True

    knowledge: Knowledge = "full"

    def __post_init__(self) -> None:
        check_choice("knowledge", self.knowledge, get_args(Knowledge))

    @property
    def partial_knowledge(self) -> bool:
        """Whether `knowledge` is "partial"."""
        return self.knowledge == "partial"

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """-lambda sign(mean)."""
        direction = _direction(seen.honest)
        judge = _judge(seen, direction, Krum() if rule is None else rule, generator)
        if rule is not None and judge.solved(np.zeros(len(judge.base))).weights is None:
            judge = _judge(seen, direction, Krum(), None)
        return direction.double() * -_followed(judge, _bound(judge, seen))[0]

    def partial_rows(
        self, own: Tensor, n: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """-lambda sign(mean of own) f times, with the lambda at which Krum chooses it among own."""
        known = look(own, 0, scaled=True)
        f, h = len(own), len(known.honest)
        if not h:
            return own.new_zeros(own.shape[1]).expand(f, -1)
        direction = _direction(known.honest)
        factor, copies, followed = 0.0, 0, False
        while not followed:
            copies += 1
            crafted = replace(known, workers=np.arange(h), n=h + copies, f=copies)
            judge = _judge(crafted, direction, Krum(), None)
            factor, followed = _followed(judge, _bound(judge, crafted))
        row = times_power_of_two(direction.double() * -factor, known.exponent)
        return row.to(own.dtype).expand(f, -1)


def _direction(honest: Tensor) -> Tensor:
    """The sign of the mean, (d,), as large as the updates: its digits would be lost beside them."""
    size = 2.0 ** exponent_of(sqrt(float(row_energies(honest).max())))
    return size * mean_and_std(honest, 1.0, 0.0).sign()


def _judge(seen: Seen, direction: Tensor, rule: Rule, generator: Generator | None) -> Judge:
    return Judge.of(seen, torch.cat([seen.honest, direction[None]]), rule, generator)


def _bound(judge: Judge, seen: Seen) -> float:
    """The bound of lambda, in units of what the direction has in each coordinate; 0 without one."""
    h, d = seen.honest.shape
    direction = judge.base[h]
    if not direction.any():
        return 0.0
    distances = np.sort(np.sqrt(judge.space.squared_distances[:h, :h]), axis=1)
    nearest = distances[:, 1 : max(1, seen.n - seen.f - 2) + 1].sum(axis=1).min()
    apart = float(nearest) / max(1, seen.n - 2 * seen.f - 1)
    farthest = float(judge.space.norms[:h].max())
    return (apart + farthest) / sqrt(d) / float(direction.abs().max())


def _followed(judge: Judge, first: float) -> tuple[float, bool]:
    """The largest lambda, of `first` and its halves, that the rule follows, and whether it does."""
    if first == 0.0:
        return 0.0, True
    factor, place = first, len(judge.base) - 1
    while factor >= SMALLEST * first:
        solution = judge.solved(np.append(np.zeros(place), -factor))
        assert solution.weights is not None
        if (solution.weights @ solution.space.mixture)[place] != 0.0:
            return factor, True
        factor /= 2
    return factor, False
