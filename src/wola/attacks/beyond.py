"""Updates that lie beyond one honest worker, the same in every round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import cos, radians, sin
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.opening import open_space
from wola.aggregation.rule import Rule
from wola.aggregation.source import Matrix
from wola.attacks._lexicographic import lexicographically_first
from wola.attacks._remembered import check_keys
from wola.attacks._scale import orthogonal, unit
from wola.attacks.attack import ColludingAttack, Seen
from wola.attacks.mimic import distances_to_mean
from wola.ground.checks import check_number

#: Distances that differ by less than this, relative to the largest, are ties up to rounding.
ROUNDING = 1e-9

_KEYS = ("worker",)


@dataclass(frozen=True)
class Beyond(ColludingAttack):
    r"""All attackers send an update that lies a fixed angle beyond one honest worker's.

    .. math:: \|x\| (\cos\phi\ \hat x + \sin\phi\ \hat u)

    with x the worker's update, :math:`\phi` the `angle` in degrees, 0 to 180, and :math:`\hat u`
    the direction of the part of -m orthogonal to x, m the mean of the honest updates: turned from
    the mean past the worker, in the plane of the two, at the worker's length. Where x and m have no
    plane, as with one coordinate, the attackers send x itself.

    The worker is the one whose update is farthest from the mean in the first round, and the same in
    every round after; of those equally far, up to rounding, the one whose first coordinate that
    differs is the smallest. In a round in which that worker is absent, or its update is one that
    the server drops, it is the farthest of those present.

    The lie has a worker's own skew for cover: a rule that takes the honest worker takes what lies
    beyond it, round after round in the same direction. The value itself remembers nothing: called,
    it does what it would do in the first round. `fresh()` gives a `BeyondRun`, which remembers the
    worker and can be saved.

    Defaults: `angle`: ours.

    Cost: two passes over the honest updates.

    Reference: ours.

    >>> import torch
    >>> honest = torch.tensor([[2.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    >>> Beyond(angle=90)(honest, f=1).round(decimals=4)
    tensor([[-2.,  0.]])
    """

    scale_equivariant: ClassVar[bool] = True

    angle: float = 45.0

    def __post_init__(self) -> None:
        check_number("angle", self.angle, least=0, most=180)

    def fresh(self) -> "BeyondRun":
        """The attack for one training run, with no worker chosen yet."""
        return BeyondRun(self.angle)

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """What a fresh start sends in its first round."""
        return self.fresh().row(seen, rule, generator)


@dataclass
class _Memory:
    worker: int | None = None
    present: tuple[int, ...] | None = None


@dataclass(frozen=True)
class BeyondRun(Beyond):
    """`Beyond` in the course of one training run; made by `Beyond.fresh()`."""

    memory: _Memory = field(default_factory=_Memory, init=False, repr=False, compare=False)

    def meet(self, workers: Sequence[int]) -> None:
        """Who takes part in the coming round; without it, workers go by their positions."""
        self.memory.present = tuple(workers)

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """The update beyond the worker's; the first round chooses the worker."""
        memory, names = self.memory, self._names(seen)
        if memory.worker is None:
            memory.worker = names[_farthest(seen.honest)]
        followed = memory.worker in names
        k = names.index(memory.worker) if followed else _farthest(seen.honest)
        return _beyond(seen.honest, k, float(self.angle))

    def _names(self, seen: Seen) -> list[int]:
        """The numbers of the honest workers seen."""
        h, present = seen.n - seen.f, self.memory.present
        if present is not None and len(present) != h:
            raise ValueError(f"honest has h = {h} updates; {len(present)} workers were announced")
        numbers = range(h) if present is None else present
        return [numbers[i] for i in seen.workers]

    def state_dict(self) -> dict[str, Any]:
        """The number of the worker; None before the first round."""
        return {"worker": self.memory.worker}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        check_keys(state, _KEYS)
        self.memory.worker = state["worker"]


def _farthest(honest: Tensor) -> int:
    """The update farthest from the mean of all (h, d)."""
    space, _, _ = open_space(Matrix(honest), 0, needs_products=True)
    distances = distances_to_mean(space)
    largest = np.flatnonzero(distances >= distances.max() * (1 - ROUNDING))
    return lexicographically_first([honest], largest)


def _beyond(honest: Tensor, k: int, angle: float) -> Tensor:
    """Update k of (h, d), turned by an angle in degrees away from the mean of all."""
    own, mean = honest[k].double(), honest.mean(dim=0, dtype=torch.float64)
    along = unit(own)
    across = orthogonal(-mean, along)
    if not across.any():
        return own
    turn, length = radians(angle), float(torch.linalg.vector_norm(own))
    return length * (cos(turn) * along + sin(turn) * across)
