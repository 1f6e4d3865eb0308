"""Partitions between equal and sorted: Iid and GammaSimilarity."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from wola.data.partition import DrawnPartition
from wola.data.sampling import Counts
from wola.ground.generators import numpy_generator


def similar_shards(
    pools: list[Counts], workers: int, gamma: float, rng: np.random.Generator
) -> list[Tensor]:
    """Shards of floor(N/h) samples: the share ``gamma`` at random, the rest sorted by label.

    >>> shards = similar_shards([np.arange(3), np.arange(3, 6)], 2, 0.0, np.random.default_rng(0))
    >>> [shard.tolist() for shard in shards]
    [[0, 1, 2], [3, 4, 5]]
    """
    by_label = np.concatenate(pools)
    size = len(by_label) // workers
    alike = round(gamma * size)
    place = rng.permutation(len(by_label))[: size * workers]
    mixed = by_label[place[: alike * workers]].reshape(workers, alike)
    rest = by_label[np.sort(place[alike * workers :])].reshape(workers, size - alike)
    return [torch.from_numpy(np.sort(row)) for row in np.concatenate([mixed, rest], axis=1)]


@dataclass(frozen=True)
class Iid(DrawnPartition):
    """Every worker holds floor(N/h) samples drawn at random without repetition.

    Cost: one shuffle of the samples.

    Draws: samples.

    Reference: none, the homogeneous case.

    >>> labels = torch.arange(100) % 10
    >>> shards = Iid().partition(labels, honest=3, generator=torch.Generator().manual_seed(1))
    >>> [len(shard) for shard in shards]
    [33, 33, 33]
    """

    def draw(self, pools: list[Counts], workers: int, generator: Generator) -> list[Tensor]:
        """A permutation, cut."""
        return similar_shards(pools, workers, 1.0, numpy_generator(generator))

    def describe(self) -> str:
        """One line that says what the partition means."""
        return "every worker holds samples drawn at random"


@dataclass(frozen=True)
class GammaSimilarity(DrawnPartition):
    """Of a worker's floor(N/h) samples the share ``gamma`` is drawn at random, the rest by label.

    The rest of all samples is sorted by label and cut into h consecutive pieces. ``gamma`` 1 is
    :class:`Iid`, 0 gives each worker as few labels as can be.

    Defaults: `gamma`: ours.

    Cost: one sort of the labels.

    Draws: samples.

    Reference: S. P. Karimireddy, S. Kale, M. Mohri, S. Reddi, S. Stich and A. T. Suresh, SCAFFOLD:
    Stochastic controlled averaging for federated learning, ICML 2020.

    >>> labels = torch.arange(100) % 10
    >>> shards = GammaSimilarity(0.0).partition(
    ...     labels, honest=10, generator=torch.Generator().manual_seed(1))
    >>> labels[shards[3]].unique()
    tensor([3])
    """

    gamma: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.gamma <= 1:
            raise ValueError(f"gamma = {self.gamma!r}; allowed: 0 to 1")

    def draw(self, pools: list[Counts], workers: int, generator: Generator) -> list[Tensor]:
        """The random share, then pieces of the sorted rest."""
        return similar_shards(pools, workers, self.gamma, numpy_generator(generator))

    def describe(self) -> str:
        """One line that says what the partition means."""
        return f"{self.gamma:.0%} of each worker's samples at random, the rest sorted by label"
