"""A rule that reads label reports, as a rule of updates alone: each update brings its report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation import Rule, Solution, Space, View
from wola.aggregation.rule import At
from wola.aggregation.source import UpdateSource
from wola.testing._expect import normal


@dataclass(frozen=True)
class Reporting(Rule):
    """The rule, with a report (`classes`,) and a name for each update that depend on it alone.

    So they go where the update goes, in whatever order the updates come and whichever of them are
    left out. When all updates are multiplied by a positive factor neither the reports nor the order
    of the names change.
    """

    rule: Rule
    classes: int

    @property
    def needs_products(self) -> bool:  # type: ignore[override]
        """As the rule."""
        return self.rule.needs_products

    def _at(self, view: View) -> At:
        return At(self.rule, view)

    def check(self, n: int, f: int) -> None:
        """As the rule, with reports of n workers."""
        self._at(View(labels=torch.ones(n, self.classes))).check(n, f)

    def max_byzantine(self, n: int) -> int:
        """As the rule, with reports of n workers."""
        return self._at(View(labels=torch.ones(n, self.classes))).max_byzantine(n)

    def opened(self, source: UpdateSource, f: int) -> tuple[Space, UpdateSource, int]:
        """The space of the updates that are finite, with the reports that they bring."""
        updates = torch.cat([piece.double() for piece in source.pieces()], 1)
        labels = reports(updates, self.classes)
        view = View(labels=labels, workers=_names(updates))
        return self._at(view).opened(source, f)

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """As the rule."""
        return self.rule.solve(space, f, generator)

    def __str__(self) -> str:
        return str(self.rule)


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
    """Texts that are ordered first by the updates' directions, then by their sizes."""
    directions = np.round(reports(updates, classes=4).numpy(), 6).tolist()
    # The bits of positive numbers, as whole numbers, are in the order of the numbers.
    sizes = _largest(updates)[:, 0].numpy().view(np.int64).tolist()
    return [f"{row} {size:020d}" for row, size in zip(directions, sizes, strict=True)]
