"""Mimic, with the worker chosen along the direction in which honest updates vary most."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.opening import open_space
from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule
from wola.aggregation.source import Matrix, times_power_of_two
from wola.attacks._lexicographic import lexicographically_first
from wola.attacks._remembered import restore, saved
from wola.attacks._scale import exponent_of, unit
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_whole

#: Numbers that differ by less than this, relative to the largest, are ties up to rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class MimicVariance(ColludingAttack):
    """All attackers copy the honest worker farthest along the direction of largest variance.

    During the first `warmup` rounds t = 0, 1, ... the attackers estimate the mean mu of the
    honest updates and the unit direction z in which they vary most: mu <- (t mu + mean) / (t+1);
    with u = sum_i <x_i - mu, z> (x_i - mu), z <- the unit vector along t z + u/||u||. They copy
    the worker with the largest <x_i, z>; after the warm-up always the last one chosen, or, in a
    round in which the server drops its update, the one with the largest <x_i, z> of the others.
    Round 0 takes the exact direction of its largest variance, towards the worker farthest along
    it, where the original starts from random numbers. Of workers equally far, up to rounding, it
    is the one whose first coordinate that differs is the smallest; only where the updates vary
    equally in several directions does the order of the workers decide which of these is taken,
    since nothing else tells them apart.

    The value itself remembers nothing: called, it does what it would do in round 0. `fresh()` gives
    a `MimicVarianceRun`, which remembers and can be saved.

    Defaults: `warmup`: ours.

    Cost: some passes over the honest updates in each round of the warm-up; in the first their inner
    products, O(h^2 d).

    Reference: S. P. Karimireddy, L. He and M. Jaggi, Byzantine-robust learning on heterogeneous
    datasets via bucketing, ICLR 2022.

    >>> import torch
    >>> run = MimicVariance(warmup=1).fresh()
    >>> run(torch.tensor([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0]]), f=1)
    tensor([[5., 0.]])
    >>> run(torch.tensor([[9.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), f=1)
    tensor([[2., 0.]])
    """

    scale_equivariant: ClassVar[bool] = True

    warmup: int = 50

    def __post_init__(self) -> None:
        check_whole("warmup", self.warmup, least=1)

    def fresh(self) -> "MimicVarianceRun":
        """The attack for one training run, with nothing remembered yet."""
        return MimicVarianceRun(self.warmup)

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """What a fresh start sends in its first round."""
        return self.fresh().row(seen, rule, generator)


@dataclass
class _Memory:
    round: int = 0
    mean: Tensor | None = None
    direction: Tensor | None = None
    worker: int | None = None


@dataclass(frozen=True)
class MimicVarianceRun(MimicVariance):
    """`MimicVariance` in the course of one training run; made by `MimicVariance.fresh()`.

    Each call is one round. A round in which every honest update is broken is not counted.
    """

    memory: _Memory = field(default_factory=_Memory, init=False, repr=False, compare=False)

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """A copy of the chosen worker's update; the memory moves on by one round."""
        memory = self.memory
        self._check(seen)
        if memory.round < self.warmup:
            self._learn(seen)
            memory.worker = int(seen.workers[self._farthest(seen.honest)])
        memory.round += 1
        here = np.flatnonzero(seen.workers == memory.worker)
        return seen.honest[int(here[0]) if len(here) else self._farthest(seen.honest)].clone()

    def _check(self, seen: Seen) -> None:
        mean, worker = self.memory.mean, self.memory.worker
        h, d = seen.n - seen.f, seen.honest.shape[1]
        if mean is not None and len(mean) != d:
            raise ValueError(f"honest has d = {d} coordinates; earlier rounds had {len(mean)}")
        if worker is not None and worker >= h:
            raise ValueError(f"honest has h = {h} workers; worker {worker} of them is mimicked")

    def _learn(self, seen: Seen) -> None:
        memory, t, honest = self.memory, self.memory.round, seen.honest
        mean = honest.mean(dim=0, dtype=torch.float64)
        if memory.mean is None or memory.direction is None:
            memory.mean = times_power_of_two(mean, seen.exponent)
            memory.direction = _largest_variance(honest)
            return
        mean = (t * times_power_of_two(memory.mean.to(mean), -seen.exponent) + mean) / (t + 1)
        memory.mean = times_power_of_two(mean, seen.exponent)
        direction = memory.direction.to(mean)
        along = [float((row.double() - mean) @ direction) for row in honest]
        largest = -exponent_of(max(map(abs, along)))
        pull = torch.zeros_like(direction)
        for row, length in zip(honest, along, strict=True):
            pull.add_(row.double() - mean, alpha=float(np.ldexp(length, largest)))
        memory.direction = unit(t * direction + unit(pull))

    def _farthest(self, honest: Tensor) -> int:
        direction = self.memory.direction
        assert direction is not None
        along = [float(row.double() @ direction.to(row.device)) for row in honest]
        return _first_of_largest(np.array(along), honest)

    def state_dict(self) -> dict[str, Any]:
        """The round, the mean and the direction (float64, copies) and the worker mimicked."""
        return saved(self.memory)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        restore(self.memory, state)


def _first_of_largest(values: Floats, honest: Tensor) -> int:
    """The row with the largest value, (h,); of equal ones see `lexicographically_first`."""
    margin = ROUNDING * np.abs(values).max()
    return lexicographically_first([honest], np.flatnonzero(values >= values.max() - margin))


def _largest_variance(honest: Tensor) -> Tensor:
    """The unit direction (d,) in which the rows (h, d) vary most; zero if they do not."""
    space, _, _ = open_space(Matrix(honest), 0, needs_products=True)
    h = len(honest)
    centring = np.eye(h) - 1.0 / h
    vectors = np.linalg.eigh(centring @ space.centred_gram @ centring)[1]
    over_workers = centring @ vectors[:, -1]
    over_workers *= np.sign(over_workers[_first_of_largest(np.abs(over_workers), honest)])
    mean = honest.mean(dim=0, dtype=torch.float64)
    direction = torch.zeros_like(mean)
    for row, weight in zip(honest, over_workers, strict=True):
        direction.add_(row.double() - mean, alpha=float(weight))
    return unit(direction)
