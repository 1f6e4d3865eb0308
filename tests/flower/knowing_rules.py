"""Small rules that use what a server knows: a memory of clients, one of itself, labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wola.aggregation import GramRule, Solution, Space


@dataclass(frozen=True)
class Attendance(GramRule):
    """The mean with weights 1 / (1 + rounds that a client took part in before this one)."""

    remembers: ClassVar[Literal["nothing", "workers", "aggregate"]] = "workers"

    def weigh(self, space: Space, f: int) -> NDArray[np.float64]:
        """Few rounds, much weight."""
        held, names = space.view.memory, space.view.names(space.n)
        weights = np.array([1.0 / (1.0 + float(held.get(name, 0.0))) for name in names])
        return weights / weights.sum()

    def remembered(self, solution: Solution, update: Tensor) -> Mapping[str | int, Tensor]:
        """One round more for each that was there."""
        view = solution.space.view
        names, before = view.names(solution.space.n), dict(view.memory)
        return before | {name: before.get(name, torch.tensor(0.0)) + 1.0 for name in names}


@dataclass(frozen=True)
class Halving(GramRule):
    """The mean, of half the length of the last aggregate from the second round on."""

    remembers: ClassVar[Literal["nothing", "workers", "aggregate"]] = "aggregate"

    def weigh(self, space: Space, f: int) -> NDArray[np.float64]:
        """Equal weights that give that length."""
        weights = np.full(space.n, 1.0 / space.n)
        last = space.view.memory.get("last")
        if last is None:
            return weights
        length = float(np.sqrt(weights @ space.gram @ weights))
        return weights * 0.5 * float(torch.linalg.vector_norm(last)) / length

    def remembered(self, solution: Solution, update: Tensor) -> Mapping[str | int, Tensor]:
        """The aggregate."""
        return {"last": update}


@dataclass(frozen=True)
class FirstClass(GramRule):
    """The mean, weighted by the share of class 0 that each client reports."""

    needs: ClassVar[frozenset[str]] = frozenset({"labels"})

    def weigh(self, space: Space, f: int) -> NDArray[np.float64]:
        """The shares, divided by their sum."""
        shares = np.asarray(space.view.labels, dtype=np.float64)[:, 0]
        weights: NDArray[np.float64] = shares / shares.sum()
        return weights
