"""How far a candidate of the attackers moves the server's rule, judged in Gram space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from wola.aggregation.columns import mixed_middle_mean, over_chunks
from wola.aggregation.products import Floats, row_energies
from wola.aggregation.rule import Rule, Solution
from wola.aggregation.source import Matrix, SomeColumns, UpdateSource
from wola.aggregation.space import Space
from wola.attacks._moments import mean_and_std, squared_distance
from wola.attacks.attack import Seen
from wola.ground.generators import copied

#: What attackers want: the aggregate far from the honest mean, or against it.
Goal = Literal["distance", "ascent"]

#: What some columns of an aggregate (b,) and of the honest mean (b,) add to a harm.
Measure = Callable[[Tensor, Tensor], float]


def inner(products: Floats, a: Floats, b: Floats) -> float:
    """<sum_k a_k x_k, sum_k b_k x_k> from the products of centred rows and of the centre."""
    return float(np.append(a, a.sum()) @ products @ np.append(b, b.sum()))


def needed_rule(rule: Rule | None, why: str, *, n: int, f: int) -> Rule:
    """The server's rule, which takes n workers of which f attack; `why` says who needs it.

    >>> needed_rule(None, "WorstOf chooses by", n=5, f=1)
    Traceback (most recent call last):
    ...
    ValueError: WorstOf chooses by the server's rule and rule is None; allowed: a Rule, such as \
NNM() | TrimmedMean()
    """
    if rule is None:
        raise ValueError(
            f"{why} the server's rule and rule is None; allowed: a Rule, such as "
            "NNM() | TrimmedMean()"
        )
    if not isinstance(rule, Rule):
        raise TypeError(f"rule is a {type(rule).__name__}; allowed: a Rule")
    rule.check(n, f)
    return rule


def squared_length(products: Floats, coefficients: Floats) -> float:
    """||sum_k a_k x_k||^2 from the products of centred rows and of the centre, (k+1, k+1)."""
    return max(inner(products, coefficients, coefficients), 0.0)


def shortfall(values: Tensor, mean: Tensor) -> float:
    """<mean - values, mean> of two vectors (d,), in float64."""
    return float((mean.double() - values.double()) @ mean.double())


def trailing_copies(mixture: Floats) -> int:
    """How many of the last rows are the same, at least one."""
    differs = np.flatnonzero((mixture != mixture[-1]).any(axis=1))
    return len(mixture) - (int(differs[-1]) + 1 if len(differs) else 0)


@dataclass(frozen=True)
class Columns:
    """The columns that column rules are judged on: of the base, and of the honest mean, (b,)."""

    source: UpdateSource
    mean: Tensor


def column_harm(
    solution: Solution, columns: Columns, measure: Measure, spare: list[Tensor]
) -> float:
    """What a measure adds up to over the columns of a column rule's aggregate, block by block.

    `spare` keeps the blocks' memory from one call to the next.
    """
    total, first = 0.0, 0
    for piece in columns.source.pieces():
        last = first + piece.shape[1]
        total += _piece_harm(solution, piece, columns.mean[first:last], measure, spare)
        first = last
    return total


def _piece_harm(
    solution: Solution, piece: Tensor, mean: Tensor, measure: Measure, spare: list[Tensor]
) -> float:
    assert solution.columns is not None
    columns, mixture = solution.columns, solution.space.mixture
    m = len(mixture)
    # The attackers' rows come last and are alike, before and after a mixing: mix one of them.
    distinct = m - trailing_copies(mixture) + 1
    matrix = torch.from_numpy(mixture[:distinct]).to(piece)
    if solution.ranks is not None:
        middle = mixed_middle_mean(matrix, m - distinct + 1, piece, *solution.ranks)
        return measure(middle, mean)

    def chunk(start: int, stop: int) -> float:
        memory = spare.pop() if spare else piece.new_empty(0)
        block = memory.resize_(m * (stop - start)).view(m, stop - start)
        torch.mm(matrix, piece[:, start:stop], out=block[:distinct])
        block[distinct:] = block[distinct - 1]
        harm = measure(columns(block), mean[start:stop])
        spare.append(memory)
        return harm

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

    @property
    def refused(self) -> bool:
        """Whether the server drops broken updates and then refuses the round, whatever is sent."""
        try:
            self.rule.check(self.h + self.copies, self.f)
        except ValueError:
            return True
        return False

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

    @cached_property
    def all_columns(self) -> Columns:
        """Every column of the base, with the server's own rows below it."""
        return Columns(self.space.source, self.mean)

    def some_columns(self, chosen: NDArray[np.int64]) -> Columns:
        """Some columns of the base, in ascending order, copied out once."""
        parts = list(SomeColumns(self.space.source, chosen).pieces())
        here = torch.from_numpy(chosen).to(self.mean.device)
        return Columns(Matrix(torch.cat(parts, dim=1)), self.mean[here])

    def is_kept(self, candidate: Floats) -> bool:
        """Whether the server will not drop the candidate for its length."""
        with np.errstate(invalid="ignore", over="ignore"):
            # By the triangle inequality, so that no overflow goes unseen.
            return bool(np.abs(candidate) @ self.norms <= self.largest)

    def harm(self, solution: Solution, goal: Goal, columns: Columns) -> float:
        """||R - mean||^2 ("distance") or <mean - R, mean> ("ascent") of the aggregate R.

        A rule that has no weights over workers is judged on `columns` alone. -inf if that is not
        a number.
        """
        if solution.weights is None:
            measure = squared_distance if goal == "distance" else shortfall
            harm = column_harm(solution, columns, measure, self.spare)
        else:
            to_mean = np.where(np.arange(self.space.source.n) < self.h, 1.0 / self.h, 0.0)
            away = solution.weights @ solution.space.mixture - to_mean
            products = self.space.products
            if goal == "distance":
                harm = squared_length(products, away)
            else:
                harm = -inner(products, away, to_mean)
        return harm if np.isfinite(harm) else -float("inf")

    def moved(self, candidate: Floats) -> float:
        """||rule(honest, copies of the candidate) - mean||^2; -inf if the server would drop it."""
        if not self.is_kept(candidate):
            return -float("inf")
        return self.harm(self.solved(candidate), "distance", self.all_columns)
