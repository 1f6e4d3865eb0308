"""LFR, ERR and their union: updates that harm the server's own data are left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Generator, Tensor

from wola.aggregation.inner_rule import check_inner_rule
from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule, Solution
from wola.aggregation.space import Space
from wola.aggregation.trimmed_mean import TrimmedMean
from wola.aggregation.zeno import LOSS_ERROR, WORST
from wola.ground.generators import copied


@dataclass(frozen=True)
class Rejection(Rule):
    """Leaves out updates by their harm to the server's loss or error rate, then aggregates.

    For each worker i the model that `rule` gives with all updates is compared with the one that it
    gives without update i: the harm of i is the difference of the server's losses or error rates.
    The f updates of most harm are left out, and the rule aggregates the rest. `rule` is told
    min(f, the most it accepts), before and after, which the paper leaves open. Error rates of a few
    samples tie often: losses decide among them. Updates that tie with one that would stay are not
    left out, so that the order of the workers decides nothing. It costs n + 1 times the rule and as
    many passes of the server's samples through the model. Needs a reference with data and a model.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"losses"})
    by: ClassVar[tuple[str, ...]]

    rule: Rule = field(default_factory=TrimmedMean)

    def __post_init__(self) -> None:
        check_inner_rule(self.rule)

    @property
    def needs_products(self) -> bool:  # type: ignore[override]
        """As the rule inside."""
        return self.rule.needs_products

    def max_byzantine(self, n: int) -> int:
        """Fewer than half, and what the rule inside accepts of one fewer."""
        return min((n - 1) // 2, n - 2)

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """The rule inside on the updates that stay."""
        kept = self.kept(space, f, generator)
        return self._inner(space, kept, f, generator)

    def kept(self, space: Space, f: int, generator: Generator | None = None) -> NDArray[np.int64]:
        """The points that stay."""
        everyone = np.arange(space.n)

        def steps() -> Iterator[Tensor]:
            yield self._inner(space, everyone, f, copied(generator)).vector()
            for i in everyone:
                yield self._inner(space, np.delete(everyone, i), f, copied(generator)).vector()

        measured = space.view.known.measure(steps())
        measured = np.where(np.isfinite(measured), measured, WORST)
        # Without a harmful update the rest fares well: the lowest are left out.
        left_out = np.zeros(space.n, dtype=bool)
        for what in self.by:
            left_out |= _lowest(measured[1:], f, by_error=what == "error")
        return everyone[~left_out]

    def _inner(
        self, space: Space, kept: NDArray[np.int64], f: int, generator: Generator | None
    ) -> Solution:
        rows = np.eye(space.n)[kept]
        told = min(f, self.rule.max_byzantine(len(kept)))
        return self.rule.solve(space.mix(rows), told, generator)


def _lowest(measured: Floats, count: int, *, by_error: bool) -> NDArray[np.bool_]:
    """The `count` lowest of (n, 2) losses and errors; none that ties with one that is not."""
    losses, errors = measured.T
    order = np.lexsort((losses, errors) if by_error else (losses,))
    chosen = np.zeros(len(losses), dtype=np.bool_)
    chosen[order[:count]] = True
    if 0 < count < len(losses):
        edge = order[count]
        slack = LOSS_ERROR * (1.0 + np.abs(losses[losses < WORST]).max(initial=0.0))
        tied = np.abs(losses - losses[edge]) <= slack
        chosen &= ~(tied & (errors == errors[edge]) if by_error else tied)
    return chosen


@dataclass(frozen=True)
class LFR(Rejection):
    """Leaves out the f updates that raise the server's loss most, then aggregates (LFR).

    The harm of update i is l(theta_A) - l(theta_i): the server's cross-entropy after the step that
    `rule` makes of all updates, less that after the step it makes of all but i. See `Rejection`.

    Defaults: `rule`: ours. Its authors put several rules in its place.

    Cost: n + 1 times the rule inside, and as many passes of the server's samples through the model.

    Reference: M. Fang, X. Cao, J. Jia and N. Z. Gong, Local model poisoning attacks to
    Byzantine-robust federated learning, USENIX Security 2020.

    >>> LFR().max_byzantine(9)
    4
    """

    by: ClassVar[tuple[str, ...]] = ("loss",)


@dataclass(frozen=True)
class ERR(Rejection):
    """Leaves out the f updates that raise the server's error rate most, then aggregates (ERR).

    As `LFR`, with the share of the server's samples that the model gets wrong in place of the loss.

    Defaults: `rule`: ours. Its authors put several rules in its place.

    Cost: n + 1 times the rule inside, and as many passes of the server's samples through the model.

    Reference: M. Fang, X. Cao, J. Jia and N. Z. Gong, Local model poisoning attacks to
    Byzantine-robust federated learning, USENIX Security 2020.

    >>> ERR().max_byzantine(9)
    4
    """

    by: ClassVar[tuple[str, ...]] = ("error",)


@dataclass(frozen=True)
class LFRandERR(Rejection):
    """Leaves out what `LFR` or `ERR` would: at most 2f updates; then aggregates.

    Defaults: `rule`: ours. Its authors put several rules in its place.

    Cost: n + 1 times the rule inside, and as many passes of the server's samples through the model.

    Reference: M. Fang, X. Cao, J. Jia and N. Z. Gong, Local model poisoning attacks to
    Byzantine-robust federated learning, USENIX Security 2020, where it is called the union.

    >>> LFRandERR().max_byzantine(9)
    4
    """

    by: ClassVar[tuple[str, ...]] = ("loss", "error")
