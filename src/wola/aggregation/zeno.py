"""Zeno: the updates after which the server's own loss is lowest."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule, Solution
from wola.aggregation.selection import smallest
from wola.aggregation.space import Space
from wola.ground.checks import check_number, check_whole

#: How far losses in float32 may be off, relative to the largest: closer scores are ties.
LOSS_ERROR = 1e-6

#: The loss of a model whose loss is not finite.
WORST = 1e300


@dataclass(frozen=True)
class Zeno(GramRule):
    r"""The mean of the n - b updates with the highest scores on data of the server's own.

    .. math:: s_i = l(\theta) - l(\theta - \eta x_i) - \rho \|x_i\|^2

    with :math:`l` the mean loss over `samples` of the server's data, drawn anew in each round, and
    :math:`\eta` the learning rate. `trim` is b, by default f; accepts f < n. Scores that agree to
    rounding are ties, and ties at the edge share (the formula leaves it open). Needs a reference
    with data and a model.

    Defaults: `rho`: public code, three code bases, of which the authors' own divides the squared
    norm by d; `trim`: ours, as many as there may be liars; `samples`: its authors' public code.

    Cost: n + 1 passes of the samples through the model, and two over the updates.

    Draws: the server's samples.

    Reference: C. Xie, S. Koyejo and I. Gupta, Zeno: distributed stochastic gradient descent with
    suspicion-based fault-tolerance, ICML 2019.

    >>> Zeno(trim=2).check(5, 1)
    """

    needs: ClassVar[frozenset[str]] = frozenset({"losses"})

    rho: float = 5e-4
    trim: int | None = None
    samples: int = 4

    def __post_init__(self) -> None:
        check_number("rho", self.rho, least=0)
        check_whole("samples", self.samples, least=1)
        if self.trim is not None:
            check_whole("trim", self.trim, least=0)

    def max_byzantine(self, n: int) -> int:
        """All but one."""
        return n - 1

    def check(self, n: int, f: int) -> None:
        """Refuse a `trim` that leaves no update."""
        super().check(n, f)
        if self.trim is not None and self.trim >= n:
            raise ValueError(f"{self} with n = {n} workers; allowed: trim < {n}")

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the highest scores, of all samples; ties at the edge share."""
        return self._weights(space, f, None)

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """The same, of samples that the generator draws."""
        return Solution(space, weights=self._weights(space, f, generator))

    def _weights(self, space: Space, f: int, generator: Generator | None) -> Floats:
        reference = space.view.known

        def steps() -> Iterator[Tensor]:
            first = space.point(0)
            yield torch.zeros_like(first)
            yield first
            for k in range(1, space.n):
                yield space.point(k)

        losses = reference.measure(steps(), samples=self.samples, generator=generator)[:, 0]
        # A loss that overflows is the worst of all.
        after = np.where(np.isfinite(losses[1:]), losses[1:], WORST)
        with np.errstate(over="ignore"):
            squares = np.ldexp(space.energies, 2 * space.exponent)
            costs = np.minimum(after + self.rho * squares, WORST)
        errors = LOSS_ERROR * (1.0 + np.abs(costs[costs < WORST]).max(initial=0.0))
        return smallest(costs, space.n - (f if self.trim is None else self.trim), errors)
