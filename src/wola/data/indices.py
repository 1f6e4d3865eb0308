"""The partition that the user gives: indices per worker."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from wola.data.dataset import Dataset
from wola.data.partition import Partition, check_workers


@dataclass(frozen=True)
class FromIndices(Partition):
    """Worker i holds the samples ``honest[i]``, Byzantine worker j the samples ``byzantine[j]``.

    Indices may repeat within and between workers. An empty worker is refused unless
    ``allow_empty``. Sequences, arrays and tensors are taken, and kept as tuples.

    >>> given = FromIndices(honest=[[0, 1], torch.tensor([2])])
    >>> given.partition(torch.tensor([0, 1, 1]), honest=2, generator=torch.Generator())
    [tensor([0, 1]), tensor([2])]
    """

    honest: Sequence[Sequence[int] | Any]
    byzantine: Sequence[Sequence[int] | Any] = ()
    allow_empty: bool = False

    def __post_init__(self) -> None:
        for name in ("honest", "byzantine"):
            rows = tuple(_whole(row, f"{name}[{i}]") for i, row in enumerate(getattr(self, name)))
            object.__setattr__(self, name, rows)
            empty = [i for i, row in enumerate(rows) if not row]
            if empty and not self.allow_empty:
                raise ValueError(
                    f"{name}[{empty[0]}] is empty; allowed: at least one sample per worker, or "
                    "allow_empty=True"
                )

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
        """The given indices, honest workers first: see :class:`Partition`."""
        check_workers(labels, honest=honest, byzantine=byzantine, classes=classes)
        for name, asked in (("honest", honest), ("byzantine", byzantine)):
            if len(getattr(self, name)) != asked:
                raise ValueError(
                    f"{name} = {asked}; allowed: {len(getattr(self, name))}, the number of "
                    "workers with given indices"
                )
        rows = (*self.honest, *self.byzantine)
        shards = [torch.tensor(row, dtype=torch.int64) for row in rows]
        for worker, shard in enumerate(shards):
            if shard.numel() and not 0 <= int(shard.min()) <= int(shard.max()) < len(labels):
                raise ValueError(
                    f"worker {worker} holds index {int(shard.min())} to {int(shard.max())}; "
                    f"allowed: 0 to {len(labels) - 1}"
                )
        return shards

    def workers(self, dataset: Dataset) -> int:
        """As many as indices are given for."""
        return len(self.honest) + len(self.byzantine)

    def describe(self) -> str:
        """One line that says what the partition means."""
        return "indices given for each worker"


def _whole(row: Iterable[Any], name: str) -> tuple[int, ...]:
    values = row.tolist() if hasattr(row, "tolist") else list(row)
    wrong = [v for v in values if isinstance(v, bool) or not isinstance(v, int)]
    if wrong:
        raise TypeError(f"{name} holds {wrong[0]!r}; allowed: whole numbers")
    return tuple(values)
