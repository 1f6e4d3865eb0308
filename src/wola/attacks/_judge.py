"""How far a candidate of the attackers moves the server's rule, judged in Gram space."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.columns import mixed_middle_mean, over_chunks
from wola.aggregation.products import Floats, row_energies
from wola.aggregation.rule import Rule, Solution
from wola.aggregation.source import Matrix
from wola.aggregation.space import Space
from wola.attacks._moments import mean_and_std, squared_distance
from wola.attacks.attack import Seen
from wola.ground.generators import copied


def squared_length(products: Floats, coefficients: Floats) -> float:
    """||sum_k a_k x_k||^2 from the products of centred rows and of the centre, (k+1, k+1)."""
    full = np.append(coefficients, coefficients.sum())
    return max(float(full @ products @ full), 0.0)


def trailing_copies(mixture: Floats) -> int:
    """How many of the last rows are the same, at least one."""
    differs = np.flatnonzero((mixture != mixture[-1]).any(axis=1))
    return len(mixture) - (int(differs[-1]) + 1 if len(differs) else 0)


def column_distance(solution: Solution, mean: Tensor, spare: list[Tensor]) -> float:
    """Squared distance of a column rule's aggregate to `mean` (d,), block by block of columns.

    `spare` keeps the blocks' memory from one call to the next.
    """
    total, first = 0.0, 0
    for piece in solution.space.source.pieces():
        last = first + piece.shape[1]
        total += _piece_distance(solution, piece, mean[first:last], spare)
        first = last
    return total


def _piece_distance(solution: Solution, piece: Tensor, mean: Tensor, spare: list[Tensor]) -> float:
    assert solution.columns is not None
    columns, mixture = solution.columns, solution.space.mixture
    m = len(mixture)
    # The attackers' rows come last and are alike, before and after a mixing: mix one of them.
    distinct = m - trailing_copies(mixture) + 1
    matrix = torch.from_numpy(mixture[:distinct]).to(piece)
    if solution.ranks is not None:
        middle = mixed_middle_mean(matrix, m - distinct + 1, piece, *solution.ranks)
        return squared_distance(middle, mean)

    def chunk(start: int, stop: int) -> float:
        memory = spare.pop() if spare else piece.new_empty(0)
        block = memory.resize_(m * (stop - start)).view(m, stop - start)
        torch.mm(matrix, piece[:, start:stop], out=block[:distinct])
        block[distinct:] = block[distinct - 1]
        distance = squared_distance(columns(block), mean[start:stop])
        spare.append(memory)
        return distance

    return float(sum(over_chunks(chunk, piece.shape[1])))


@dataclass(frozen=True)
class Judge:
    """Judges candidates b = sum_k a_k x_k over `base` (k, d), whose first h rows are the honest.

    The candidates are mixtures of the base, so what the rule decides from inner products costs
    nothing that grows with d; a column rule costs one pass over the columns. Every candidate
    meets the same randomness: a copy of `generator`, which is left as it was. The base is given
    times 2^-`exponent`, and a candidate longer than `largest` is one that the server would drop.
    """

    base: Tensor
    h: int
    copies: int
    rule: Rule
    f: int
    generator: Generator | None
    largest: float
    exponent: int = 0
    spare: list[Tensor] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, seen: Seen, base: Tensor, rule: Rule, generator: Generator | None) -> Judge:
        """The judge of what is sent beside the honest updates seen, which `base` begins with."""
        return cls(
            base,
            len(seen.honest),
            seen.f,
            rule,
            max(0, seen.f - seen.dropped),
            generator,
            seen.largest,
            seen.exponent,
        )

    @cached_property
    def space(self) -> Space:
        """The base; its products are found at most once, and handed on to every mixture."""
        space = self.rule.bare_space(Matrix(self.base), self.exponent)
        return replace(space, given_products=space.products) if self.rule.needs_products else space

    @cached_property
    def norms(self) -> Floats:
        """The length of each row of the base, (k,)."""
        return np.sqrt(row_energies(self.base))

    @cached_property
    def mean(self) -> Tensor:
        """The mean of the honest updates, (d,)."""
        return mean_and_std(self.base[: self.h], 1.0, 0.0)

    def solved(self, candidate: Floats) -> Solution:
        """What the rule makes of the honest updates and the copies of the candidate."""
        k = len(self.base)
        rows = np.vstack([np.eye(self.h, k), np.tile(candidate, (self.copies, 1))])
        space = self.space.mix(rows, self.space.view)
        return self.rule.solve(space, self.f, copied(self.generator))

    def moved(self, candidate: Floats) -> float:
        """||rule(honest, copies of the candidate) - mean||^2; -inf if the server would drop it."""
        with np.errstate(invalid="ignore", over="ignore"):
            # By the triangle inequality, so that no overflow goes unseen.
            if not np.abs(candidate) @ self.norms <= self.largest:
                return -float("inf")
        solution = self.solved(candidate)
        if solution.weights is None:
            distance = column_distance(solution, self.mean, self.spare)
        else:
            to_mean = np.where(np.arange(self.space.source.n) < self.h, 1.0 / self.h, 0.0)
            away = solution.weights @ solution.space.mixture - to_mean
            distance = squared_length(self.space.products, away)
        return distance if np.isfinite(distance) else -float("inf")
