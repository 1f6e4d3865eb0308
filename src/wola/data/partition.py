"""What every partition shares: its checks, the Byzantine workers' shards, the test set."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Generator, Tensor

from wola.data.dataset import Dataset
from wola.data.sampling import (
    Counts,
    class_pools,
    resample,
    whole_counts,
)
from wola.ground.checks import check_whole
from wola.ground.generators import numpy_generator
from wola.labels import check_distribution, label_counts


class Partition(ABC):
    """How the training samples are divided among the workers: one verb, :meth:`partition`.

    A partition of one's own that draws from the samples of each class is a
    :class:`DrawnPartition`.
    """

    @abstractmethod
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
        """The indices each worker holds: ``honest`` int64 tensors, then ``byzantine`` ones.

        ``labels`` (N,) are those of the training set, whole numbers below ``classes`` (by default
        the largest label + 1), ``clients`` (N,) the dataset's own, where it has them. All
        randomness comes from ``generator``.
        """

    @abstractmethod
    def describe(self) -> str:
        """One line that says what the partition means."""

    def workers(self, dataset: Dataset) -> int | None:
        """How many workers, the Byzantine ones included, the data give; None: any number."""
        return None

    def files(self) -> list[Path]:
        """The files whose content decides the partition."""
        return []

    def test_indices(self, labels: Tensor, distribution: Tensor, *, generator: Generator) -> Tensor:
        """The test samples to evaluate on: all, unless the partition changes the class balance."""
        return torch.arange(len(labels))


class DrawnPartition(Partition):
    """A partition that draws from the samples of each class, for any number of workers.

    One of one's own gives :meth:`draw` and :meth:`describe`.

    >>> class Turns(DrawnPartition):
    ...     def draw(self, pools, workers, generator):
    ...         samples = torch.cat([torch.from_numpy(pool) for pool in pools])
    ...         return [samples[worker::workers] for worker in range(workers)]
    ...     def describe(self):
    ...         return "by turns, in the order of the labels"
    >>> Turns().partition(torch.tensor([1, 0, 0, 1]), honest=2, generator=torch.Generator())
    [tensor([1, 0]), tensor([2, 3])]
    """

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
        """The indices each worker holds, honest workers first: see :class:`Partition`.

        Byzantine workers hold shards of their own, drawn again in the same way, which may overlap
        those of the honest; so the honest shards do not depend on ``byzantine``.
        """
        counts = check_workers(labels, honest=honest, byzantine=byzantine, classes=classes)
        pools = class_pools(labels, len(counts))
        shards = self.draw(pools, honest, generator)
        others: list[Tensor] = []
        while len(others) < byzantine:
            others += self.draw(pools, honest, generator)
        return shards + others[:byzantine]

    @abstractmethod
    def draw(self, pools: list[Counts], workers: int, generator: Generator) -> list[Tensor]:
        """The shards of ``workers`` workers that divide the class ``pools`` among them."""


def check_workers(labels: Tensor, *, honest: int, byzantine: int, classes: int | None) -> Tensor:
    """The samples per class (C,), or an error that names the argument that does not fit.

    >>> check_workers(torch.tensor([0, 2, 2]), honest=2, byzantine=0, classes=None)
    tensor([1, 0, 2])
    """
    for name, value, least in (("honest", honest, 1), ("byzantine", byzantine, 0)):
        check_whole(name, value, least=least)
    if labels.numel() < honest:
        raise ValueError(
            f"honest = {honest}, with {labels.numel()} samples; allowed: at most one worker per "
            "sample"
        )
    return label_counts(labels, int(labels.max()) + 1 if classes is None else classes)


def partition_counts(labels: Tensor, shards: Sequence[Tensor], classes: int) -> Tensor:
    """Samples per worker and class, (n, C) int64.

    >>> shards = [torch.tensor([0, 1]), torch.tensor([2])]
    >>> partition_counts(torch.tensor([0, 1, 1]), shards, classes=2)
    tensor([[1, 1],
            [0, 1]])
    """
    return torch.stack([label_counts(labels[shard], classes) for shard in shards])


def resampled_test_indices(labels: Tensor, distribution: Tensor, *, generator: Generator) -> Tensor:
    """Indices (N,) into the test ``labels`` (N,) whose classes follow ``distribution`` (C,).

    As many as there are test samples; each class is over- or under-sampled. A class without any
    test sample leaves its share to the others.

    >>> labels = torch.tensor([0, 0, 1, 1])
    >>> chosen = resampled_test_indices(
    ...     labels, torch.tensor([0.25, 0.75]), generator=torch.Generator())
    >>> labels[chosen]
    tensor([0, 1, 1, 1])
    """
    p = check_distribution(distribution, name="distribution").cpu().numpy()
    pools = class_pools(labels, len(label_counts(labels, len(p))))
    possible = p * [len(pool) > 0 for pool in pools]
    if possible.sum() == 0:
        raise ValueError(
            f"distribution = {p.tolist()}; allowed: some mass on a class of the test set, which "
            f"has {[label for label, pool in enumerate(pools) if len(pool)]}"
        )
    rng = numpy_generator(generator)
    counts = whole_counts(possible / possible.sum(), len(labels))
    chosen = [resample(pool, int(n), rng) for pool, n in zip(pools, counts, strict=True)]
    return torch.cat([torch.from_numpy(part).sort().values for part in chosen])
