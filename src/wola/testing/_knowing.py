"""A rule that must know more than updates, as a rule of updates alone: each call makes its view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation import Memory, Rule, Solution, Space, View
from wola.aggregation.rule import At
from wola.aggregation.source import UpdateSource
from wola.testing._expect import normal

#: What the server knows when it sees these updates (n, d), in float64.
MakeView = Callable[[Tensor], View]


@dataclass(frozen=True)
class Knowing(Rule):
    """The rule, in each call at the view that `make` gives for the updates of the call."""

    rule: Rule
    make: MakeView

    @property
    def needs_products(self) -> bool:  # type: ignore[override]
        """As the rule."""
        return self.rule.needs_products

    def _at(self, updates: Tensor) -> At:
        return At(self.rule, self.make(updates))

    def check(self, n: int, f: int) -> None:
        """As the rule, at what is known of n workers."""
        self._at(torch.zeros(n, 1, dtype=torch.float64)).check(n, f)

    def max_byzantine(self, n: int) -> int:
        """As the rule, at what is known of n workers."""
        return self._at(torch.zeros(n, 1, dtype=torch.float64)).max_byzantine(n)

    def opened(self, source: UpdateSource, f: int) -> tuple[Space, UpdateSource, int]:
        """The space of the updates that are finite, with all that is known beside them."""
        updates = torch.cat([piece.double() for piece in source.pieces()], 1)
        return self._at(updates).opened(source, f)

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """As the rule."""
        return self.rule.solve(space, f, generator)

    def remembered(self, solution: Solution, update: Tensor) -> Memory:
        """As the rule."""
        return self.rule.remembered(solution, update)

    def __str__(self) -> str:
        return str(self.rule)


def reported(updates: Tensor, classes: int) -> View:
    """A view with a report (`classes`,) and a name for each update that depend on it alone.

    So they go where the update goes, in whatever order the updates come and whichever of them are
    left out. When all updates are multiplied by a positive factor neither the reports nor the order
    of the names change.
    """
    return View(labels=reports(updates, classes), workers=_names(updates))


def reports(updates: Tensor, classes: int) -> Tensor:
    """A label distribution (n, classes) for each update (n, d), decided by its direction alone."""
    largest = _largest(updates)
    directions = normal(updates.shape[1], classes, seed=11)
    known = updates.nan_to_num(0.0, 0.0, 0.0) / largest.where(largest > 0, 1.0)
    return torch.softmax(2.0 * known @ directions, 1)


def _largest(updates: Tensor) -> Tensor:
    """The largest finite absolute value of each update, (n, 1)."""
    values = updates.nan_to_num(0.0, 0.0, 0.0).abs()
    return torch.cat([values, values.new_zeros(len(values), 1)], 1).amax(1, keepdim=True)


def _names(updates: Tensor) -> list[str]:
    """Texts in the order of the updates' directions, then of their sizes; equals are counted."""
    directions = np.round(reports(updates, classes=4).numpy(), 6).tolist()
    # The bits of positive numbers, as whole numbers, are in the order of the numbers.
    sizes = _largest(updates)[:, 0].numpy().view(np.int64).tolist()
    names = [f"{row} {size:020d}" for row, size in zip(directions, sizes, strict=True)]
    return [f"{name} {names[:i].count(name)}" for i, name in enumerate(names)]
