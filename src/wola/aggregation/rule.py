"""What an aggregation rule is: n updates to one, and how it is solved in two passes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from wola.aggregation.columns import middle_mean
from wola.aggregation.opening import TooFewUpdates, open_space
from wola.aggregation.products import Floats
from wola.aggregation.source import (
    Blocks,
    ColumnBlocks,
    Matrix,
    Stacked,
    Updates,
    UpdateSource,
    as_matrix,
    like,
    times_power_of_two,
)
from wola.aggregation.space import Space
from wola.aggregation.view import (
    NO_MEMORY,
    NOTHING_KNOWN,
    Memory,
    MissingReference,
    View,
    frozen,
)
from wola.ground.checks import check_whole


@dataclass(frozen=True)
class Outcome:
    """What a rule made of the updates: `update` (d,), `weights` (n,) or None, dropped workers.

    `memory` is what the rule keeps for the next round: `rule.at(View(memory=outcome.memory))`.
    """

    update: Any
    weights: Any
    dropped: tuple[int, ...]
    memory: Memory = NO_MEMORY

    def __repr__(self) -> str:
        """The outcome in a line or two, whatever its size."""
        size = f"update ({len(self.update)},) {self.update.dtype}"
        if self.weights is None:
            who = "no weights over workers"
        else:
            shares = ", ".join(f"{float(weight):.3g}" for weight in self.weights[:20])
            who = f"weights ({shares}{', ...' if len(self.weights) > 20 else ''})"
        return f"Outcome: {size}, dropped {list(self.dropped)}\n  {who}"


@dataclass(frozen=True)
class Solution:
    """An aggregate before it is computed: weights over the points of a space, or a column rule."""

    space: Space
    weights: Floats | None = None
    columns: Callable[[Tensor], Tensor] | None = None
    ranks: tuple[int, int] | None = None
    """For a column rule that is a mean of middle ranks: the first, and one past the last."""

    def vector(self) -> Tensor:
        """The aggregate, (d,), in one pass over the source."""
        if self.weights is not None:
            return self.space.unscaled(self.space.combination(self.weights))
        assert self.columns is not None
        parts = [self.columns(block) for block in self.space.blocks()]
        return self.space.unscaled(torch.cat(parts))


@dataclass(frozen=True)
class Rule(ABC):
    """A robust aggregation rule: a frozen value whose one verb turns n updates into one.

    `rule(updates, f)` takes an (n, d) tensor, or a sequence of n tensors or NumPy arrays of shape
    (d,), of which at most `f` are Byzantine, and returns the aggregate (d,) in the same dtype, on
    the same device, as NumPy if NumPy came in. The input is never changed. An update with a
    non-finite value, or whose norm overflows, is dropped first (see `open_space`); each lowers n
    and f by one. The order of the workers decides nothing: what is tied at the edge of a selection
    shares the remaining weight equally.
    """

    needs_products: ClassVar[bool] = False
    """Whether inner products of the updates are used: then the first pass collects them."""

    needs: ClassVar[frozenset[str]] = frozenset()
    """What the rule must know of the server's: see `wola.aggregation.view.GIVEN_BY`."""

    remembers: ClassVar[Literal["nothing", "workers", "pairs", "aggregate"]] = "nothing"
    """What the rule keeps from round to round: of each worker, of two workers, or its aggregate."""

    @abstractmethod
    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """Decide, in Gram space, how the points of the space are combined; nothing is kept."""

    def remembered(self, solution: Solution, update: Tensor) -> Memory:
        """What the rule keeps of a round for the next one: new tensors, by name of the worker.

        `update` (d,) is the aggregate; what was kept before is `solution.space.view.memory`. What
        is not named here stays as it was: a worker that is absent or dropped keeps what it had.
        """
        return NO_MEMORY

    def at(self, view: View) -> Rule:
        """The rule with what the server knows in this round: itself if it uses none of it."""
        return At(self, view) if self.needs or self.remembers != "nothing" else self

    def among(self, rows: Sequence[int] | NDArray[np.int64]) -> Rule:
        """The rule for some of the workers that it was bound to: itself if it knows none."""
        return self

    def landmarks(self, view: View) -> Tensor | None:
        """Rows (r, d) of the server's own whose inner products with the updates are needed."""
        return None

    def bare_space(self, source: UpdateSource, exponent: int = 0) -> Space:
        """The space that the rule sees of updates that are known to be finite.

        They are given times 2^-exponent, and all that the server has is seen times as much.
        """
        NOTHING_KNOWN.check(self, self.needs)
        return Space(source)

    def max_byzantine(self, n: int) -> int:
        """The largest f that the rule accepts among n workers."""
        return (n - 1) // 2

    def check(self, n: int, f: int) -> None:
        """Raise a ValueError that names n, f and what is allowed if the rule cannot work."""
        f = check_whole("f", f, least=0)
        most = self.max_byzantine(n)
        if n < 1 or most < 0:
            raise ValueError(f"{self} cannot aggregate n = {n} workers with f = {f}")
        if f > most:
            raise ValueError(f"{self} with n = {n} workers allows f <= {most}, not f = {f}")

    def check_classes(self, n: int, f: int, classes: int) -> None:
        """Raise a ValueError if the rule cannot work where there are so many classes."""
        check_whole("classes", classes, least=1)

    def __call__(self, updates: Updates, f: int, generator: Generator | None = None) -> Any:
        """The aggregate of the updates, (d,)."""
        return self.aggregate(updates, f, generator).update

    def weights(self, updates: Updates, f: int, generator: Generator | None = None) -> Any:
        """The weight each worker got, (n,), zero for dropped ones; None if there are none."""
        matrix = as_matrix(updates)
        source, solution = self._solved(Matrix(matrix), f, generator)
        return _weights(solution, source, matrix, updates)

    def aggregate(self, updates: Updates, f: int, generator: Generator | None = None) -> Outcome:
        """The aggregate, the weights behind it, the workers dropped, and what the rule keeps."""
        matrix = as_matrix(updates)
        source, solution = self._solved(Matrix(matrix), f, generator)
        update = solution.vector().to(matrix.dtype)
        dropped = tuple(int(i) for i in np.setdiff1d(np.arange(len(matrix)), source.rows))
        weights = _weights(solution, source, matrix, updates)
        memory = frozen(self.remembered(solution, update))
        return Outcome(like(update, updates), weights, dropped, memory)

    def blocks(self, blocks: Blocks, f: int, generator: Generator | None = None) -> Any:
        """The aggregate of updates that come as column blocks (n, b), read twice, never joined.

        `blocks` is a list, or any object whose `__iter__` starts afresh. Memory: one block at a
        time and the result. (A mixing that looks at coordinates again after another mixing, as
        `NNM() | FoundationFL() | ...` does, reads them once more; so do `DnC` and `GAS`, which look
        at some columns at a time, and float64 updates that are zero, not finite, or so large or
        small that they are scaled first.) Nothing is kept for another round: see `aggregate`.
        """
        source = ColumnBlocks(blocks)
        _, solution = self._solved(source, f, generator)
        return source.as_given(solution.vector())

    def _solved(
        self, source: UpdateSource, f: int, generator: Generator | None
    ) -> tuple[UpdateSource, Solution]:
        self.check(source.n, f)
        f = check_whole("f", f, least=0)
        space, source, remaining = self.opened(source, f)
        try:
            self.check(space.n, remaining)
        except ValueError as error:
            raise TooFewUpdates(str(error)) from error
        return source, self.solve(space, remaining, generator)

    def opened(self, source: UpdateSource, f: int) -> tuple[Space, UpdateSource, int]:
        """The space of the updates that are finite, their source, and what f is then."""
        NOTHING_KNOWN.check(self, self.needs)
        return open_space(source, f, self.needs_products)


def _weights(solution: Solution, source: UpdateSource, matrix: Tensor, updates: Updates) -> Any:
    if solution.weights is None:
        return None
    dtype = torch.float64 if matrix.dtype == torch.float64 else torch.float32
    weights = torch.zeros(len(matrix), dtype=dtype)
    workers = source.rows[source.rows < len(matrix)]
    over_source = (solution.weights @ solution.space.mixture)[: len(workers)]
    weights[workers] = torch.from_numpy(over_source).to(dtype)
    return like(weights.to(matrix.device), updates)


@dataclass(frozen=True)
class At(Rule):
    """A rule with what the server knows in this round, see `Rule.at`."""

    rule: Rule
    view: View

    def __post_init__(self) -> None:
        self.view.check(self.rule, self.rule.needs)

    @property
    def needs_products(self) -> bool:  # type: ignore[override]
        """As the rule."""
        return self.rule.needs_products

    def check(self, n: int, f: int) -> None:
        """As the rule, with so many classes as the workers report on or the server has rows of."""
        self.rule.check(n, f)
        if self.classes is not None:
            self.rule.check_classes(n, f, self.classes)

    @cached_property
    def classes(self) -> int | None:
        """How many classes the rule has to do with; None if it has to do with none."""
        if "classes" in self.rule.needs:
            return len(self.view.known.classes())
        return self.view.classes

    def max_byzantine(self, n: int) -> int:
        """The largest f that the rule accepts with so many classes; -1 if none is."""
        for f in range(self.rule.max_byzantine(n), -1, -1):
            try:
                self.check(n, f)
            except MissingReference:
                raise
            except ValueError:
                continue
            return f
        return -1

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """As the rule, in a space that has what it needs."""
        return self.rule.solve(space, f, generator)

    def remembered(self, solution: Solution, update: Tensor) -> Memory:
        """What was kept before, and in its place what the rule keeps now."""
        return {**self.view.memory, **self.rule.remembered(solution, update)}

    def among(self, rows: Sequence[int] | NDArray[np.int64]) -> Rule:
        """The rule bound to what the server knows of some of the workers."""
        return At(self.rule, self.view.of_rows(rows))

    @cached_property
    def seen(self) -> View:
        """What the rule is shown: of a memory of workers, that of those who are here."""
        return self.view.present() if self.rule.remembers == "workers" else self.view

    def bare_space(self, source: UpdateSource, exponent: int = 0) -> Space:
        """The updates as points, with the server's own rows beside them."""
        rows = self.rule.landmarks(self.seen)
        if rows is None:
            return Space(source, view=self.seen)
        return Space.with_server_rows(source, times_power_of_two(rows, -exponent), self.seen)

    def opened(self, source: UpdateSource, f: int) -> tuple[Space, UpdateSource, int]:
        """The space of the updates that are finite, with the server's own rows beside them."""
        given, reporting = source.n, self._reporting(source.n)
        if len(reporting) < given:
            source, f = source.keep(reporting), max(0, f - (given - len(reporting)))
        rows = self.rule.landmarks(self.seen)
        marks = 0 if rows is None else len(rows)
        stacked = source if rows is None else Stacked(source, rows, given)
        space, source, f = open_space(stacked, f, self.needs_products, marks=marks, view=self.seen)
        if len(reporting) < given:
            space = replace(space, view=self.seen.of_rows(source.rows[: space.n]))
        return space, source, f

    def _reporting(self, n: int) -> NDArray[np.int64]:
        if "labels" not in self.rule.needs:
            return np.arange(n)
        reporting = self.view.reporting(n)
        if not len(reporting):
            raise TooFewUpdates(
                f"none of {n} workers reports a label distribution: nothing is left to aggregate"
            )
        return reporting

    def __str__(self) -> str:
        return str(self.rule)


class GramRule(Rule):
    """A rule that finds weights over the workers from inner products alone."""

    needs_products: ClassVar[bool] = True

    @abstractmethod
    def weigh(self, space: Space, f: int) -> Floats:
        """The weights of the points of the space, (n,): the aggregate is their combination."""

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """Weights, and the space they are over."""
        return Solution(space, weights=self.weigh(space, f))


class ColumnRule(Rule):
    """A rule that treats every coordinate alone: it has no weights over workers."""

    @abstractmethod
    def columns(self, block: Tensor, f: int) -> Tensor:
        """The aggregate of a block of columns: (n, b) to (b,)."""

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """The rule itself, to be run over the columns of the space."""
        return Solution(space, columns=lambda block: self.columns(block, f))


class RankRule(ColumnRule):
    """A column rule on sorted values, whose kernel also tells whether all it read was finite."""

    @abstractmethod
    def ranked(self, block: Tensor, f: int) -> tuple[Tensor, bool]:
        """The aggregate of a block, and whether all that was read is finite and not huge."""

    def columns(self, block: Tensor, f: int) -> Tensor:
        """The aggregate of a block of columns: (n, b) to (b,)."""
        return self.ranked(block, f)[0]

    def aggregate(self, updates: Updates, f: int, generator: Generator | None = None) -> Outcome:
        """The aggregate in a single pass; only if it met a non-finite value, the careful way."""
        matrix = as_matrix(updates)
        source = Matrix(matrix)
        self.check(source.n, f)
        update, clean = self.ranked(source.matrix, check_whole("f", f, least=0))
        if not clean:
            return super().aggregate(updates, f, generator)
        return Outcome(like(update.to(matrix.dtype), updates), None, ())


class MiddleRule(RankRule):
    """The mean of some middle ranks of each column."""

    @abstractmethod
    def ranks(self, n: int, f: int) -> tuple[int, int]:
        """The first rank taken, and one past the last."""

    def ranked(self, block: Tensor, f: int) -> tuple[Tensor, bool]:
        """The mean of those ranks of each column."""
        return middle_mean(block, *self.ranks(len(block), f))

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """The rule itself, and the ranks it takes."""
        return replace(super().solve(space, f, generator), ranks=self.ranks(space.n, f))
