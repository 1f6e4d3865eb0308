"""What clean data a server holds: which training samples are taken out for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Generator, Tensor

from wola.ground.checks import check_number, check_whole


@dataclass(frozen=True)
class ServerShare(ABC):
    """Samples of the training set that the server holds, and nobody else does.

    `samples` are drawn without replacement before the rest is divided among the workers; `noise` is
    the share of them, rounded down, whose label is replaced by another one drawn uniformly.
    """

    name: ClassVar[str]

    samples: int = 100
    noise: float = 0.0

    def __post_init__(self) -> None:
        check_whole("samples", self.samples, least=1)
        check_number("noise", self.noise, least=0, below=1 + 1e-12)

    @abstractmethod
    def counts(self, available: Sequence[int]) -> list[int] | None:
        """How many samples of each class, given how many there are; None: whatever is drawn."""

    def draw(self, labels: Tensor, classes: int, generator: Generator) -> Tensor:
        """The indices of the samples that the server holds, ascending: (samples,) int64."""
        order = torch.randperm(len(labels), generator=generator)
        available = torch.bincount(labels, minlength=classes).tolist()
        wanted = self.counts(available)
        if self.samples >= len(labels):
            raise ValueError(
                f"samples = {self.samples}; allowed: fewer than the {len(labels)} of the data"
            )
        if wanted is None:
            return order[: self.samples].sort().values
        for c, (asked, there) in enumerate(zip(wanted, available, strict=True)):
            if asked > there:
                raise ValueError(
                    f"{self} takes {asked} samples of class {c}; allowed: at most {there}"
                )
        drawn = [order[labels[order] == c][:asked] for c, asked in enumerate(wanted)]
        return torch.cat(drawn).sort().values

    def noisy(self, labels: Tensor, classes: int, generator: Generator) -> Tensor:
        """The labels (s,) with some of them replaced by another class."""
        wrong = torch.randperm(len(labels), generator=generator)[: int(self.noise * len(labels))]
        away = torch.randint(1, classes, (len(wrong),), generator=generator)
        changed = labels.clone()
        changed[wrong] = (labels[wrong] + away) % classes
        return changed


def split_evenly(total: int, parts: int) -> list[int]:
    """`total` in `parts` that differ by one at most, the larger ones first.

    >>> split_evenly(8, 3)
    [3, 3, 2]
    """
    return [total // parts + (i < total % parts) for i in range(parts)]


@dataclass(frozen=True)
class EqualShare(ServerShare):
    """The server holds as many samples of every class.

    >>> labels = torch.tensor([0, 0, 0, 1, 1, 2, 2])
    >>> labels[EqualShare(samples=3).draw(labels, 3, torch.Generator().manual_seed(0))]
    tensor([0, 1, 2])
    """

    name: ClassVar[str] = "equal"

    def counts(self, available: Sequence[int]) -> list[int]:
        """The samples divided evenly; what is left over goes to the first classes."""
        return split_evenly(self.samples, len(available))


@dataclass(frozen=True)
class PriorShare(ServerShare):
    """The server holds samples drawn from the training set as it is."""

    name: ClassVar[str] = "prior"

    def counts(self, available: Sequence[int]) -> None:
        """None: no class is asked for."""
        return


@dataclass(frozen=True)
class SkewedShare(ServerShare):
    """The server holds a share `bias` of class 0, and of the other classes as many of each.

    Reference: X. Cao, M. Fang, J. Liu and N. Z. Gong, FLTrust: Byzantine-robust federated learning
    via trust bootstrapping, NDSS 2021, where the root data are biased towards one class.
    """

    name: ClassVar[str] = "skewed"

    bias: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("bias", self.bias, least=0, below=1 + 1e-12)

    def counts(self, available: Sequence[int]) -> list[int]:
        """round(bias samples) of class 0, the rest evenly over the others."""
        first = round(self.bias * self.samples)
        return [first, *split_evenly(self.samples - first, len(available) - 1)]


#: How the server comes by data of its own, by name.
SERVER_SHARES: Mapping[str, type[ServerShare]] = MappingProxyType(
    {kind.name: kind for kind in (EqualShare, PriorShare, SkewedShare)}
)
