"""What a mixing is: a matrix that turns n updates into m mixtures; and chains of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, overload

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.opening import open_space
from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule, Solution
from wola.aggregation.source import Matrix, Updates, UpdateSource, as_matrix, like
from wola.aggregation.space import Space
from wola.aggregation.view import Memory, View
from wola.ground.checks import check_whole


@dataclass(frozen=True)
class Mixing(ABC):
    """A pre-aggregation: a frozen value that maps n updates to m mixtures of them.

    `mixing(updates, f)` gives the mixtures (m, d), `mixing.matrix(updates, f)` the matrix (m, n)
    behind them, with a column of zeros for a worker dropped as non-finite. `mixing | rule` is a
    rule, `mixing | mixing` a mixing.
    """

    needs_products: ClassVar[bool] = True
    """Whether inner products of the updates are used: then the first pass collects them."""

    @abstractmethod
    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """The mixing matrix (m, n) for the n points of the space."""

    def count(self, n: int, f: int) -> int:
        """How many mixtures come out of n updates."""
        return n

    def check(self, n: int, f: int) -> None:
        """Raise a ValueError that names n, f and what is allowed if the mixing cannot work."""
        if n < 1 or check_whole("f", f, least=0) > (n - 1) // 2:
            raise ValueError(f"{self} with n = {n} workers allows f <= {(n - 1) // 2}, not {f}")

    def __call__(self, updates: Updates, f: int, generator: Generator | None = None) -> Any:
        """The mixtures of the updates, (m, d)."""
        matrix = as_matrix(updates)
        _, space = self._mixed(matrix, f, generator)
        mixtures = space.unscaled(torch.cat(list(space.blocks()), dim=1))
        return like(mixtures.to(matrix.dtype), updates)

    def matrix(self, updates: Updates, f: int, generator: Generator | None = None) -> Any:
        """The mixing matrix (m, n) over all workers given."""
        matrix = as_matrix(updates)
        source, space = self._mixed(matrix, f, generator)
        dtype = torch.float64 if matrix.dtype == torch.float64 else torch.float32
        mixture = torch.zeros(space.n, len(matrix), dtype=dtype)
        mixture[:, source.rows] = torch.from_numpy(space.mixture).to(dtype)
        return like(mixture.to(matrix.device), updates)

    def _mixed(
        self, matrix: torch.Tensor, f: int, generator: Generator | None
    ) -> tuple[UpdateSource, Space]:
        self.check(len(matrix), f)
        f = check_whole("f", f, least=0)
        space, source, f = open_space(Matrix(matrix), f, self.needs_products)
        return source, space.mix(self.mix(space, f, generator))

    @overload
    def __or__(self, after: Mixing) -> MixingChain: ...
    @overload
    def __or__(self, after: Rule) -> Chain: ...
    def __or__(self, after: Mixing | Rule) -> MixingChain | Chain:
        """This mixing, then another mixing or a rule."""
        before = self.mixings if isinstance(self, MixingChain) else (self,)
        if isinstance(after, MixingChain):
            return MixingChain(before + after.mixings)
        if isinstance(after, Mixing):
            return MixingChain((*before, after))
        if isinstance(after, Chain):
            return Chain(before + after.mixings, after.rule)
        if isinstance(after, Rule):
            return Chain(before, after)
        return NotImplemented


@dataclass(frozen=True)
class MixingChain(Mixing):
    """Several mixings one after another; their matrix is the product of theirs."""

    mixings: tuple[Mixing, ...]

    @property
    def needs_products(self) -> bool:  # type: ignore[override]
        """Whether any of the mixings needs inner products."""
        return any(mixing.needs_products for mixing in self.mixings)

    def check(self, n: int, f: int) -> None:
        """Check each mixing with the count that reaches it."""
        for mixing in self.mixings:
            mixing.check(n, f)
            n = mixing.count(n, f)

    def count(self, n: int, f: int) -> int:
        """How many mixtures come out at the end."""
        for mixing in self.mixings:
            n = mixing.count(n, f)
        return n

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """The product of the mixing matrices."""
        product = np.eye(space.n)
        for mixing in self.mixings:
            matrix = mixing.mix(space, f, generator)
            space, product = space.mix(matrix), matrix @ product
        return product

    def __str__(self) -> str:
        return " | ".join(map(str, self.mixings))


@dataclass(frozen=True)
class Chain(Rule):
    """Mixings, then one rule: itself a rule, whose weights are over the original workers.

    The non-finite filter always runs first. Written `NNM() | MultiKrum()`.
    """

    mixings: tuple[Mixing, ...]
    rule: Rule

    @property
    def needs_products(self) -> bool:  # type: ignore[override]
        """Whether the rule or any of the mixings needs inner products."""
        parts: tuple[Mixing | Rule, ...] = (*self.mixings, self.rule)
        return any(part.needs_products for part in parts)

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        """What the rule needs."""
        return self.rule.needs

    @property
    def remembers(  # type: ignore[override]
        self,
    ) -> Literal["nothing", "workers", "pairs", "aggregate"]:
        """What the rule keeps."""
        return self.rule.remembers

    def remembered(self, solution: Solution, update: Tensor) -> Memory:
        """What the rule keeps."""
        return self.rule.remembered(solution, update)

    def landmarks(self, view: View) -> Tensor | None:
        """Those of the rule: mixings never touch them."""
        return self.rule.landmarks(view)

    def check(self, n: int, f: int) -> None:
        """Check each mixing, then the rule, with the count that reaches it."""
        reaching = n
        try:
            for mixing in self.mixings:
                mixing.check(reaching, f)
                reaching = mixing.count(reaching, f)
            if self.rule.remembers in ("workers", "pairs"):
                self._check_names_last(n, f)
            self.rule.check(reaching, f)
        except ValueError as error:
            raise ValueError(f"{self} with n = {n} and f = {f}: {error}") from error

    def check_classes(self, n: int, f: int, classes: int) -> None:
        """Check the rule with the count that reaches it."""
        for mixing in self.mixings:
            n = mixing.count(n, f)
        self.rule.check_classes(n, f, classes)

    def _check_names_last(self, n: int, f: int) -> None:
        """Refuse mixtures that are nobody's, also once some of the f send what is dropped."""
        for dropped in range(min(f, n - 1) + 1):
            left, told = n - dropped, f - dropped
            for mixing in self.mixings:
                if (count := mixing.count(left, told)) != left:
                    raise ValueError(
                        f"{self.rule} keeps a memory of each worker, and {count} mixtures of "
                        f"{left} workers are nobody's; allowed: mixings that give a mixture for "
                        "each worker"
                    )

    def max_byzantine(self, n: int) -> int:
        """The largest f that every part accepts; -1 if none is."""
        for f in range((n - 1) // 2, -1, -1):
            try:
                self.check(n, f)
            except ValueError:
                continue
            return f
        return -1

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """Mix in Gram space, then let the rule decide there."""
        for mixing in self.mixings:
            space = space.mix(mixing.mix(space, f, generator))
        return self.rule.solve(space, f, generator)

    def __str__(self) -> str:
        return " | ".join(map(str, (*self.mixings, self.rule)))
