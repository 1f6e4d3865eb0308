"""Bucketing."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Generator

from wola.aggregation.products import Floats
from wola.aggregation.space import Space
from wola.ground.checks import check_whole
from wola.ground.generators import given_generator
from wola.mixing.mixing import Mixing


@dataclass(frozen=True)
class Bucketing(Mixing):
    """Shuffle the updates, cut them into buckets of s, and take the mean of each bucket.

    s is `size`, or else floor(n / 2f), lowered where needed so that more than 2f buckets remain;
    s = 1 changes nothing (n = 17 with f = 6 or 8), and so does f = 0. The last bucket may be
    smaller. The shuffle comes from the generator given with the call.

    Defaults: `size`: ours, floor(n / 2f). The WoLA paper's text gives no size.

    Cost: nothing beside the rule's.

    Draws: an order of the workers.

    Reference: S. P. Karimireddy, L. He and M. Jaggi, Byzantine-robust learning on heterogeneous
    datasets via bucketing, ICLR 2022.

    >>> import torch
    >>> generator = torch.Generator().manual_seed(1)
    >>> Bucketing(size=2)(torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]]), 1, generator).shape
    torch.Size([3, 1])
    """

    size: int | None = None
    needs_products: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.size is not None:
            check_whole("size", self.size, least=1)

    def bucket_size(self, n: int, f: int) -> int:
        """How many updates share a bucket."""
        if self.size is not None:
            return min(self.size, n)
        if f == 0:
            return 1
        largest = n // (2 * f)
        return next(s for s in range(largest, 0, -1) if -(-n // s) > 2 * f or s == 1)

    def count(self, n: int, f: int) -> int:
        """ceil(n / s) buckets."""
        return -(-n // self.bucket_size(n, f))

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """Row b holds 1/|b| at the updates of bucket b."""
        n, size = space.n, self.bucket_size(space.n, f)
        if size == 1:
            return np.eye(n)
        generator = given_generator(generator, f"{self} shuffles the workers")
        order = torch.randperm(n, generator=generator, device=generator.device).tolist()
        buckets = [order[start : start + size] for start in range(0, n, size)]
        matrix = np.zeros((len(buckets), n))
        for row, bucket in zip(matrix, buckets, strict=True):
            row[bucket] = 1.0 / len(bucket)
        return matrix
