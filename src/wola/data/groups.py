"""The partition into groups: every class has a group of workers that gets most of it."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from wola.data.partition import Partition, check_workers
from wola.data.sampling import Counts, class_pools
from wola.ground.generators import numpy_generator


@dataclass(frozen=True)
class Groups(Partition):
    """A sample goes to the group of its class with probability ``p``, else to any other group.

    The workers, Byzantine ones included, are put at random into a group for each of the C classes
    that have samples, of floor or ceil of n / C workers, so n must be at least C. A sample of class
    l goes to group l with probability p and to each other group with (1 - p) / (C - 1), and there
    to each worker with the same probability; every sample is at one worker. p = 1 / C gives
    everyone the same mix, p = 1 each group its own class alone. Workers differ in size. One that
    the draw leaves without any sample takes one from the worker with the most: our choice. The test
    set stays as it is.

    Defaults: `p`: its authors.

    Cost: one draw for each sample.

    Draws: groups of workers, and a worker for each sample.

    Reference: M. Fang, X. Cao, J. Jia and N. Z. Gong, Local model poisoning attacks to
    Byzantine-robust federated learning, USENIX Security 2020; FLTrust and FoundationFL use it too.

    >>> labels = torch.arange(100) % 2
    >>> shards = Groups(1.0).partition(labels, honest=4, generator=torch.Generator().manual_seed(1))
    >>> sorted(labels[shard].unique().tolist() for shard in shards)
    [[0], [0], [1], [1]]
    """

    p: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"p = {self.p!r}; allowed: 0 to 1")

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
        counts = check_workers(labels, honest=honest, byzantine=byzantine, classes=classes)
        n, present = honest + byzantine, int((counts > 0).sum())
        if labels.numel() < n:
            raise ValueError(
                f"honest + byzantine = {n}, with {labels.numel()} samples; allowed: at most one "
                "worker per sample"
            )
        if n < present:
            raise ValueError(
                f"honest + byzantine = {n}, with {present} classes; allowed: at least {present}, a "
                "worker for the group of each class"
            )
        pools = [pool for pool in class_pools(labels, len(counts)) if len(pool)]
        return self._dealt(pools, n, numpy_generator(generator))

    def _dealt(self, pools: list[Counts], n: int, rng: np.random.Generator) -> list[Tensor]:
        split = np.array_split(rng.permutation(n), len(pools))
        # The larger groups come first in a split; which classes get them is drawn.
        groups = [split[place] for place in rng.permutation(len(pools))]
        starts = np.cumsum([0, *(len(group) for group in groups)])
        workers, samples = np.concatenate(groups), np.concatenate(pools)
        group = np.repeat(np.arange(len(pools)), [len(pool) for pool in pools])
        if len(pools) > 1:
            away = rng.random(len(samples)) >= self.p
            other = rng.integers(len(pools) - 1, size=len(samples))
            # Counted among the groups that are not its own, the places from there on move by one.
            group = np.where(away, other + (other >= group), group)
        holder = workers[rng.integers(starts[group], starts[group + 1])]
        _fill(holder, n)
        return [torch.from_numpy(np.sort(samples[holder == worker])) for worker in range(n)]

    def describe(self) -> str:
        """One line that says what the partition means."""
        return (
            f"workers in a group per class; a sample goes to the group of its class with "
            f"probability {self.p:g}"
        )


def _fill(holder: Counts, n: int) -> None:
    """Gives each of n workers without a sample one of those of the worker with the most."""
    held = np.bincount(holder, minlength=n)
    for worker in np.flatnonzero(held == 0):
        most = int(held.argmax())
        holder[np.flatnonzero(holder == most)[0]] = worker
        held[most] -= 1
        held[worker] = 1
