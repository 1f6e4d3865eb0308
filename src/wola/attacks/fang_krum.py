"""Fang's attack on Krum."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.generators import copied
from wola.aggregation.krum import Krum
from wola.aggregation.opening import open_space
from wola.aggregation.products import row_energies
from wola.aggregation.rule import Rule
from wola.aggregation.source import Matrix
from wola.aggregation.space import Space
from wola.attacks._moments import mean_and_std
from wola.attacks._scale import exponent_of
from wola.attacks.attack import ColludingAttack, Seen

#: Below this share of its first value lambda is not halved any more.
SMALLEST = 1e-5


@dataclass(frozen=True)
class FangKrum(ColludingAttack):
    """-lambda sign(mean) with the largest lambda, of halved ones, at which the rule follows it.

    lambda starts at its bound, [min_i sum of the distances of x_i to its n - f - 2 nearest honest
    others] / ((n - 2f - 1) sqrt d) + max_i ||x_i|| / sqrt d, and is halved until the server's
    `rule` gives the attackers weight; without a rule, or with one that has no weights, until Krum
    does. n - 2f - 1 counts as 1 where it is 0, and halving ends at 1e-5 of the bound instead of an
    absolute 1e-5, so that scale decides nothing (both our choice). The attackers know the honest
    updates, as in the authors' full knowledge, and send one and the same update. In Gram space: one
    pass over the data, however often lambda is halved. Reference: M. Fang, X. Cao, J. Jia and N. Z.
    Gong, Local model poisoning attacks to Byzantine-robust federated learning, USENIX Security
    2020.

    >>> import torch
    >>> honest = torch.tensor([[1.0], [2.0], [3.0], [6.0]])
    >>> sent = FangKrum()(honest, f=3)
    >>> Krum()(torch.cat([honest, sent]), f=3) == sent[0]
    tensor([True])
    """

    scale_equivariant: ClassVar[bool] = True

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """-lambda sign(mean)."""
        sign = mean_and_std(seen.honest, 1.0, 0.0).sign()
        if not sign.any():
            return torch.zeros_like(sign)
        h, f = len(seen.honest), max(0, seen.f - seen.dropped)
        # Of the size of the honest updates, or its digits would be lost beside theirs.
        size = 2.0 ** exponent_of(sqrt(float(row_energies(seen.honest).max())))
        base = torch.cat([seen.honest, size * sign[None]])
        space, _, _ = open_space(Matrix(base), 0, needs_products=True)
        factor = first = self._bound(space, seen)
        judged = space if rule is None else _as_seen_by(rule, base, space)
        while factor >= SMALLEST * first and not self._followed(
            judged, h, seen.f, f, factor / size, rule, generator
        ):
            factor /= 2
        return sign.double() * -factor

    @staticmethod
    def _bound(space: Space, seen: Seen) -> float:
        h, d = len(seen.honest), seen.honest.shape[1]
        distances = np.sort(np.sqrt(space.squared_distances[:h, :h]), axis=1)
        nearest = distances[:, 1 : max(1, seen.n - seen.f - 2) + 1].sum(axis=1).min()
        apart = float(nearest) / max(1, seen.n - 2 * seen.f - 1)
        return (apart + float(space.norms[:h].max())) / sqrt(d)

    @staticmethod
    def _followed(
        space: Space,
        h: int,
        copies: int,
        f: int,
        factor: float,
        rule: Rule | None,
        generator: Generator | None,
    ) -> bool:
        sent = np.append(np.zeros(h), -factor)
        rows = np.vstack([np.eye(h, h + 1), np.tile(sent, (copies, 1))])
        mixed = space.mix(rows, space.view)
        solution = None if rule is None else rule.solve(mixed, f, copied(generator))
        if solution is None or solution.weights is None:
            solution = Krum().solve(mixed, f, None)
        assert solution.weights is not None
        return bool((solution.weights @ solution.space.mixture)[h] != 0.0)


def _as_seen_by(rule: Rule, base: Tensor, space: Space) -> Space:
    """The space of the base with what the server knows beside it: its own rows, and reports."""
    seen = rule.bare_space(Matrix(base))
    if not seen.marks:
        return replace(space, view=seen.view)
    return replace(seen, given_products=seen.products, rounding=space.rounding)
