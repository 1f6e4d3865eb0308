"""A client's data: tensors, or a Dataset of PyTorch, read by index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.data import Dataset, TensorDataset, default_collate

Data = tuple[Tensor, Tensor] | Dataset[Any]


class Samples(Protocol):
    """Samples by index: their `labels` (N,) int64 at once, their inputs when they are taken."""

    @property
    def labels(self) -> Tensor:
        """The labels (N,) int64, on the CPU."""

    def take(self, indices: Tensor) -> Tensor:
        """The inputs (B, ...) at the indices (B,)."""


@dataclass(frozen=True, eq=False)
class TensorSamples:
    """Samples held as tensors: `inputs` (N, ...) and `labels` (N,).

    >>> TensorSamples(torch.eye(3), torch.tensor([0, 1, 1])).take(torch.tensor([1]))
    tensor([[0., 1., 0.]])
    """

    inputs: Tensor
    labels: Tensor

    def take(self, indices: Tensor) -> Tensor:
        """The inputs (B, ...) at the indices (B,)."""
        return self.inputs.index_select(0, indices.to(self.inputs.device))


@dataclass(frozen=True, eq=False)
class DatasetSamples:
    """Samples of a Dataset with a length, each one an input and a label."""

    dataset: Dataset[Any]
    labels: Tensor

    def take(self, indices: Tensor) -> Tensor:
        """The inputs (B, ...) at the indices (B,)."""
        items = [self.dataset[i] for i in indices.tolist()]
        counted = self.labels[indices].tolist()
        for i, (_, label), expected in zip(indices.tolist(), items, counted, strict=True):
            # Weights were made from the labels counted; others would silently train towards
            # another distribution.
            if int(label) != expected:
                raise ValueError(
                    f"data[{i}] has label {int(label)}, and {expected} when labels were counted; "
                    "allowed: labels that stay the same"
                )
        taken: Tensor = default_collate([given for given, _ in items])
        return taken


def as_samples(data: Data, *, name: str = "data") -> Samples:
    """Tensors (inputs, labels) or a Dataset with a length as samples, N >= 1 of them.

    The labels of a Dataset are its `targets`, as those of torchvision have them, where no
    `target_transform` changes them; else every sample is read once.
    """
    if isinstance(data, TensorDataset):
        data = data.tensors  # type: ignore[assignment]
    if isinstance(data, Dataset):
        return DatasetSamples(data, _checked(_labels(data, name), name))
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise TypeError(
            f"{name} is a {type(data).__name__}; allowed: (inputs, labels) or a Dataset"
        )
    inputs, labels = data
    if not isinstance(inputs, Tensor):
        raise TypeError(f"{name} has inputs in a {type(inputs).__name__}; allowed: a tensor")
    if len(inputs) != len(labels):
        raise ValueError(
            f"{name} has {len(inputs)} inputs and {len(labels)} labels; allowed: as many of both"
        )
    return TensorSamples(inputs, _checked(torch.as_tensor(labels), name))


def _labels(data: Dataset[Any], name: str) -> Tensor:
    if not hasattr(data, "__len__"):
        raise TypeError(f"{name} is a {type(data).__name__} without a length; allowed: with one")
    targets = getattr(data, "targets", None)
    if targets is not None and getattr(data, "target_transform", None) is None:
        return torch.as_tensor(targets)
    return torch.tensor([int(data[i][1]) for i in range(len(data))])


def _checked(labels: Tensor, name: str) -> Tensor:
    if labels.ndim != 1 or not len(labels) or labels.is_floating_point():
        raise ValueError(
            f"{name} has labels of shape {tuple(labels.shape)} and dtype {labels.dtype}; allowed: "
            "one whole number for each of at least one sample"
        )
    return labels.detach().to("cpu", torch.int64)
