"""What is measured of a run: a record per round, an evaluation now and then, the phases' time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import nan
from time import perf_counter

import torch
from torch import Tensor

PHASES = ("batches", "gradients", "attack", "rule", "step", "metrics")

_BLOCK = 8192


@dataclass(frozen=True)
class StepRecord:
    """One round: `dissimilarity_*` of the honest workers, `cosine` of aggregate and honest mean.

    `weights` has one entry per worker, or is None where the rule has none; `dropped` names the
    workers whose update was not finite; a `skipped` round left the model as it was.
    """

    step: int
    lr: float
    dissimilarity_gradients: float
    dissimilarity_momenta: float
    cosine: float | None
    weights: tuple[float, ...] | None
    dropped: tuple[str, ...]
    skipped: bool
    seconds: dict[str, float]


@dataclass(frozen=True)
class Evaluation:
    """The model on the test set after a step: `accuracy` in percent, mean cross-entropy `loss`."""

    step: int
    accuracy: float
    loss: float
    seconds: float


@dataclass
class Stopwatch:
    """Wall time by phase: `with watch("rule"): ...` adds to it."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Adds the time spent inside to the phase."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] += perf_counter() - start

    def taken(self) -> dict[str, float]:
        """The times so far; counting starts anew."""
        seconds, self.seconds = self.seconds, dict.fromkeys(PHASES, 0.0)
        return seconds


def spread(rows: Tensor) -> tuple[Tensor, float]:
    """The mean (d,) of rows (h, d), and the mean squared distance of the rows to it.

    In column blocks that stay in the cache, the squares added up in float64: the same number as
    `wola.labels.gradient_dissimilarity` to float32 rounding, in a fraction of its time. Of no
    rows at all: 0 and nan.

    >>> spread(torch.tensor([[1.0, 0.0], [3.0, 0.0]]))
    (tensor([2., 0.]), 1.0)
    """
    if not len(rows):
        return rows.new_zeros(rows.shape[1]), nan
    mean = rows.mean(0)
    total = 0.0
    for start in range(0, rows.shape[1], _BLOCK):
        away = rows[:, start : start + _BLOCK] - mean[start : start + _BLOCK]
        total += float(torch.linalg.vector_norm(away, dim=1).double().square().sum())
    return mean, total / len(rows)


def cosine(a: Tensor, b: Tensor) -> float | None:
    """Cosine of the angle between two vectors (d,); None if one of them is zero or not finite.

    >>> cosine(torch.tensor([2.0, 0.0]), torch.tensor([-1.0, 0.0]))
    -1.0
    """
    lengths = float(torch.linalg.vector_norm(a)) * float(torch.linalg.vector_norm(b))
    if not 0 < lengths < float("inf"):
        return None
    return float(a @ b) / lengths
