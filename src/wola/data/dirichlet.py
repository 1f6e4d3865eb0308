"""The Dirichlet partition: every worker has a random mix of labels."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from torch import Generator, Tensor

from wola.data.partition import DrawnPartition, check_workers, resampled_test_indices
from wola.data.sampling import (
    Counts,
    Shares,
    class_pools,
    deal,
    share_out,
    whole_counts,
)
from wola.ground.generators import numpy_generator


@dataclass(frozen=True)
class Dirichlet(DrawnPartition):
    """Every worker draws its label mix from Dir(alpha, ..., alpha).

    Small ``alpha``: few labels per worker; large: all alike. ``resampled``, the paper's setting:
    every worker holds floor(N/h) samples with counts next to floor(N/h) p_i; each class pool is
    over- or under-sampled to the sum of its counts over the h workers and dealt, so samples may
    repeat, and the test set is to be resampled to the honest workers' global distribution
    (:meth:`test_indices`). ``disjoint``: every sample goes to at most one worker, Byzantine ones
    included, each holds floor(N/(h+f)) samples, and a class that runs out is divided in proportion
    to the demands for it, see :func:`~wola.data.sampling.share_out`. Classes without samples are
    left out of the draw.

    Defaults: `mode`: the WoLA paper.

    Cost: one sort of the labels.

    Draws: label mixes and samples.

    Reference: T.-M. H. Hsu, H. Qi and M. Brown, Measuring the effects of non-identical data
    distribution for federated visual classification, 2019.

    >>> import torch
    >>> labels = torch.arange(1000) % 10
    >>> shards = Dirichlet(0.3).partition(
    ...     labels, honest=11, byzantine=6, generator=torch.Generator().manual_seed(1))
    >>> len(shards), {len(shard) for shard in shards}
    (17, {90})
    """

    alpha: float
    mode: Literal["resampled", "disjoint"] = "resampled"

    def __post_init__(self) -> None:
        if not 0 < self.alpha < np.inf:
            raise ValueError(f"alpha = {self.alpha!r}; allowed: a finite number > 0")
        if self.mode not in ("resampled", "disjoint"):
            raise ValueError(f"mode = {self.mode!r}; allowed: 'resampled', 'disjoint'")

    def partition(
        self,
        labels: Tensor,
        *,
        honest: int,
        byzantine: int = 0,
        classes: int | None = None,
        clients: Tensor | None = None,
        generator: Generator,
    ) -> list[Tensor]:
        """The indices each worker holds, honest workers first: see :class:`Partition`."""
        if self.mode == "resampled":
            return super().partition(
                labels, honest=honest, byzantine=byzantine, classes=classes, generator=generator
            )
        counts = check_workers(labels, honest=honest, byzantine=byzantine, classes=classes)
        if labels.numel() < honest + byzantine:
            raise ValueError(
                f"honest + byzantine = {honest + byzantine}, with {labels.numel()} samples; "
                "allowed in disjoint mode: at most one worker per sample"
            )
        return self.draw(class_pools(labels, len(counts)), honest + byzantine, generator)

    def draw(self, pools: list[Counts], workers: int, generator: Generator) -> list[Tensor]:
        """Distributions, then counts, then samples."""
        rng = numpy_generator(generator)
        stock = np.array([len(pool) for pool in pools])
        size = int(stock.sum()) // workers
        shares = _dirichlet(self.alpha, workers, stock > 0, rng)
        if self.mode == "resampled":
            return deal(pools, whole_counts(shares, size), rng)
        return deal(pools, share_out(shares, stock, size), rng)

    def describe(self) -> str:
        """One line that says what the partition means."""
        meaning = {
            "resampled": "class pools over- or under-sampled to the drawn counts",
            "disjoint": "every sample at most at one worker",
        }
        return f"label mix of each worker drawn from Dir({self.alpha:g}); {meaning[self.mode]}"

    def test_indices(self, labels: Tensor, distribution: Tensor, *, generator: Generator) -> Tensor:
        """Resampled to ``distribution`` (C,), the honest global one, in ``resampled`` mode."""
        if self.mode == "disjoint":
            return super().test_indices(labels, distribution, generator=generator)
        return resampled_test_indices(labels, distribution, generator=generator)


def _dirichlet(
    alpha: float, workers: int, present: NDArray[np.bool_], rng: np.random.Generator
) -> Shares:
    shares = np.zeros((workers, len(present)))
    shares[:, present] = rng.dirichlet(np.full(int(present.sum()), alpha), size=workers)
    normalised: Shares = shares / shares.sum(axis=1, keepdims=True)
    return normalised
