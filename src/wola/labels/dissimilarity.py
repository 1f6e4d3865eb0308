"""How far apart the workers' updates are."""

from collections.abc import Sequence

import torch
from torch import Tensor

BLOCK = 1 << 16


def gradient_dissimilarity(updates: Tensor | Sequence[Tensor]) -> float:
    r"""Mean squared distance of n updates to their mean.

    .. math:: \frac1n \sum_{i=1}^{n} \|v_i - \bar v\|_2^2, \qquad \bar v = \frac1n \sum_i v_i

    ``updates`` is an (n, d) floating-point tensor, or n vectors of length d. Differences and sums
    are in float64 over blocks of columns, so that a large common part cancels and no second
    n x d matrix is made. An update with a non-finite value makes the result nan. Reference:
    Karimireddy, He and Jaggi, *Byzantine-Robust Learning on Heterogeneous Datasets via
    Bucketing*, ICLR 2022, where it bounds what any robust rule can reach.

    >>> gradient_dissimilarity(torch.tensor([[1.0, 0.0], [3.0, 0.0]]))
    1.0
    """
    rows = _rows(updates)
    total = 0.0
    for start in range(0, len(rows[0]), BLOCK):
        block = torch.stack([row[start : start + BLOCK].to(torch.float64) for row in rows])
        total += float((block - block.mean(0)).square().sum())
    return total / len(rows)


def _rows(updates: Tensor | Sequence[Tensor]) -> list[Tensor]:
    if isinstance(updates, Tensor) and updates.ndim != 2:
        raise ValueError(f"updates must have shape (n, d), got {tuple(updates.shape)}")
    if not isinstance(updates, Tensor | list | tuple):
        raise TypeError(
            f"updates must be a tensor or a sequence of tensors, got {type(updates).__name__}"
        )
    rows = list(updates)
    if not rows:
        raise ValueError("updates must hold at least one update, got none")
    for worker, row in enumerate(rows):
        if not isinstance(row, Tensor) or not row.is_floating_point():
            kind = row.dtype if isinstance(row, Tensor) else type(row).__name__
            raise TypeError(f"updates must be floating-point tensors, got {kind} at {worker}")
        if row.shape != rows[0].shape or row.ndim != 1:
            raise ValueError(
                f"updates must be vectors of one length, got shape {tuple(row.shape)} at "
                f"{worker} and {tuple(rows[0].shape)} at 0"
            )
    return [row.detach() for row in rows]
