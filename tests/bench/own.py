"""Parts of a user's own for the tests of the benchmark."""

from dataclasses import dataclass

import torch

from wola.data import DrawnPartition


@dataclass(frozen=True)
class ByAlpha(DrawnPartition):
    """Takes turns, and has a parameter that the scenario's alpha is given to."""

    alpha: float

    def draw(self, pools, workers, generator):
        samples = torch.cat([torch.from_numpy(pool) for pool in pools])
        return [samples[worker::workers] for worker in range(workers)]

    def describe(self):
        return "by turns"
