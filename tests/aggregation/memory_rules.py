"""Rounds of updates for the rules that remember."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tests.reference import Array
from wola.aggregation import (
    ByGARSPlusPlus,
    CenteredClipping,
    FoolsGold,
    Memory,
    Outcome,
    ReferenceRows,
    Rule,
    SoftSetHull,
    View,
)
from wola.aggregation.view import NO_MEMORY

N, F, D = 9, 3, 12
NAMES = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]

RULES: list[Rule] = [
    ByGARSPlusPlus(alpha=0.3),
    ByGARSPlusPlus(alpha=0.2, unit=True, length="server"),
    FoolsGold(),
    FoolsGold(kappa=0.7, total=True),
    CenteredClipping(tau=1.5, iterations=2, history=True),
    SoftSetHull(),
]
#: The same kinds as texts of a scenario.
REMEMBERING = (
    "bygars-plus-plus(unit=true)",
    "foolsgold",
    "centered-clipping(tau=0.05, history=true)",
    "soft-set-hull",
)
PER_WORKER = [rule for rule in RULES if rule.remembers == "workers"]


def made(seed: int) -> tuple[Array, Array]:
    """Updates (N, D) of one round, the last F the wrong way round, and the server's own."""
    rng = np.random.default_rng([77, seed])
    own = np.random.default_rng(3).normal(size=D) + 0.2 * rng.normal(size=D)
    x = own + rng.normal(size=(N, D))
    x[N - F :] *= -2.0
    return x, own


def view(own: Array, names: Sequence[Any] | None = None, memory: Memory = NO_MEMORY) -> View:
    server = ReferenceRows(mean=torch.from_numpy(own), lr=0.1)
    return View(server, workers=names, memory=memory)


def rounds(
    rule: Rule, steps: Sequence[tuple[Array, Array, Sequence[Any]]], f: int = F
) -> list[Outcome]:
    """The outcome of each round, its memory handed on to the next."""
    outcomes: list[Outcome] = []
    memory = NO_MEMORY
    for x, own, names in steps:
        outcomes.append(rule.at(view(own, names, memory)).aggregate(x, f))
        memory = outcomes[-1].memory
    return outcomes


def remembered(rule: Rule, count: int = 3) -> Memory:
    """What the rule keeps after some rounds."""
    return rounds(rule, [(*made(seed), NAMES) for seed in range(count)])[-1].memory


def same(first: Memory, second: Memory) -> bool:
    """Whether two memories are equal to the last bit."""
    return dict(first).keys() == dict(second).keys() and all(
        torch.equal(value, second[name]) for name, value in first.items()
    )
