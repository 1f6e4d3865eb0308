"""The partition into shards: every worker has k labels."""

from dataclasses import dataclass

import numpy as np
from torch import Generator, Tensor

from wola.data.partition import DrawnPartition
from wola.data.sampling import Counts, deal
from wola.ground.checks import check_whole
from wola.ground.generators import numpy_generator


def label_hands(present: Counts, workers: int, k: int, rng: np.random.Generator) -> list[Counts]:
    """For each worker k different labels, every label at floor or ceil of h k / C workers.

    Each label in turn goes to workers that still hold the fewest, so the hands fill evenly.

    >>> hands = label_hands(np.array([0, 1, 2]), 3, 2, np.random.default_rng(0))
    >>> [len(set(hand.tolist())) for hand in hands], np.bincount(np.concatenate(hands))
    ([2, 2, 2], array([2, 2, 2]))
    """
    whole, rest = divmod(workers * k, len(present))
    holders = np.full(len(present), whole)
    holders[rng.permutation(len(present))[:rest]] += 1
    free = np.full(workers, k)
    hands: list[list[int]] = [[] for _ in range(workers)]
    for place in rng.permutation(len(present)):
        order = np.lexsort((rng.random(workers), -free))
        for worker in order[: holders[place]]:
            hands[worker].append(int(present[place]))
            free[worker] -= 1
    return [np.array(sorted(hand)) for hand in hands]


@dataclass(frozen=True)
class Shards(DrawnPartition):
    """Every worker holds ``k`` labels, and each label is divided evenly among its holders.

    A label has floor or ceil of h k / C holders; with h k < C some labels have none. Workers may
    differ in size. A label with fewer samples than holders repeats samples, so that no holder is
    left without.

    Defaults: `k`: ours.

    Cost: one sort of the labels.

    Draws: labels and samples.

    Reference: B. McMahan, E. Moore, D. Ramage, S. Hampson and B. Agüera y Arcas,
    Communication-efficient learning of deep networks from decentralized data, AISTATS 2017, whose
    shards are pieces of the data sorted by label.

    >>> import torch
    >>> labels = torch.arange(100) % 10
    >>> shards = Shards(2).partition(labels, honest=5, generator=torch.Generator().manual_seed(1))
    >>> [(len(shard), len(labels[shard].unique())) for shard in shards]
    [(20, 2), (20, 2), (20, 2), (20, 2), (20, 2)]
    """

    k: int = 2

    def __post_init__(self) -> None:
        check_whole("k", self.k, least=1)

    def draw(self, pools: list[Counts], workers: int, generator: Generator) -> list[Tensor]:
        """Labels for each worker, then the samples of each label."""
        present = np.flatnonzero([len(pool) for pool in pools])
        if self.k > len(present):
            raise ValueError(
                f"k = {self.k}; allowed: at most {len(present)}, the labels that have samples"
            )
        rng = numpy_generator(generator)
        counts = np.zeros((workers, len(pools)), dtype=np.int64)
        for worker, hand in enumerate(label_hands(present, workers, self.k, rng)):
            counts[worker, hand] = 1
        for label, pool in enumerate(pools):
            holders = np.flatnonzero(counts[:, label])
            if len(holders):
                whole, rest = divmod(max(len(pool), len(holders)), len(holders))
                counts[holders, label] = whole
                counts[rng.permutation(holders)[:rest], label] += 1
        return deal(pools, counts, rng)

    def describe(self) -> str:
        """One line that says what the partition means."""
        return f"every worker holds {self.k} label{'s' if self.k > 1 else ''}"
