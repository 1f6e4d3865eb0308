"""Mimic of one worker, the same in every round."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_whole


@dataclass(frozen=True)
class MimicStatic(ColludingAttack):
    """All attackers send what one honest worker sends, the same one in every round.

    `worker` is its position among the honest updates given, 0 <= worker < h. If its update is one
    that the server drops, the next worker whose update is not, in cyclic order, takes its place.

    Defaults: `worker`: ours.

    Cost: one copy of an update.

    Reference: S. P. Karimireddy, L. He and M. Jaggi, Byzantine-robust learning on heterogeneous
    datasets via bucketing, ICLR 2022.

    >>> import torch
    >>> MimicStatic(worker=1)(torch.tensor([[0.0], [1.0], [5.0]]), f=1)
    tensor([[1.]])
    """

    scale_equivariant: ClassVar[bool] = True

    worker: int = 0

    def __post_init__(self) -> None:
        check_whole("worker", self.worker, least=0)

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """A copy of the worker's update."""
        h = seen.n - seen.f
        if self.worker >= h:
            raise ValueError(
                f"worker = {self.worker} with h = {h} honest workers; allowed: 0 to {h - 1}"
            )
        nearest = int(np.argmin((seen.workers - self.worker) % h))
        return seen.honest[nearest].clone()
