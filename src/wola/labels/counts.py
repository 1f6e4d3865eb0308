"""How many samples of each class a worker holds, and the distributions that follow from it."""

import torch
from torch import Tensor

from wola.ground.checks import check_whole
from wola.labels.simplex import Distributions, Vector, real_tensor


def label_counts(labels: Vector, classes: int) -> Tensor:
    r"""Number of samples per class, :math:`N^c = \#\{k : y_k = c\}`: (C,) int64.

    ``labels`` (N,) are whole numbers from 0 to ``classes`` - 1; N may be 0.

    >>> label_counts(torch.tensor([2, 0, 2, 2]), classes=4)
    tensor([1, 0, 3, 0])
    """
    classes = check_whole("classes", classes, least=1)
    values = real_tensor(labels, ndim=1, name="labels")
    if values.numel() == 0:
        return torch.zeros(classes, dtype=torch.int64, device=values.device)
    values = _whole(values, name="labels")
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        raise ValueError(f"labels must lie between 0 and {classes - 1}, got {wrong}")
    return torch.bincount(values, minlength=classes)


def label_distribution(counts: Vector) -> Tensor:
    r"""Label distribution of a worker, :math:`p_i^c = N_i^c / N_i`: (C,) float64.

    ``counts`` (C,) are whole numbers, none negative and not all zero.

    >>> label_distribution([1, 0, 3])
    tensor([0.2500, 0.0000, 0.7500], dtype=torch.float64)
    """
    values = check_counts(counts)
    return values.to(torch.float64) / values.sum()


def global_distribution(counts_per_worker: Distributions) -> Tensor:
    r"""Label distribution of all workers' data together: (C,) float64.

    .. math:: p^c = \sum_i N_i^c \Big/ \sum_i N_i

    ``counts_per_worker`` (n, C) are whole numbers, none negative. A worker may be without data,
    not all of them. This is the mean of the workers' distributions weighted by their sizes.

    >>> global_distribution([[1, 1], [0, 6]])
    tensor([0.1250, 0.8750], dtype=torch.float64)
    """
    name = "counts_per_worker"
    rows = _non_negative(real_tensor(counts_per_worker, ndim=2, name=name), name=name)
    return label_distribution(rows.sum(0))


def check_counts(counts: Vector) -> Tensor:
    """The counts (C,) in int64, or an error: whole, none negative, not all zero."""
    values = _non_negative(real_tensor(counts, ndim=1, name="counts"), name="counts")
    if not bool(values.any()):
        raise ValueError(f"counts must have at least one positive entry, got {values.tolist()}")
    return values


def _non_negative(values: Tensor, *, name: str) -> Tensor:
    if values.numel() == 0:
        raise ValueError(f"{name} must not be empty, got shape {tuple(values.shape)}")
    whole = _whole(values, name=name)
    if bool((whole < 0).any()):
        raise ValueError(f"{name} must be non-negative, got {int(whole.min())}")
    return whole


def _whole(values: Tensor, *, name: str) -> Tensor:
    if values.is_floating_point():
        raise TypeError(f"{name} must hold integers, got dtype {values.dtype}")
    return values.to(torch.int64)
