"""Which of several updates comes first, whatever the order of their workers."""

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def lexicographically_first(pieces: Iterable[Tensor], rows: NDArray[np.int64]) -> int:
    """Of some `rows` of a matrix, the one with the smallest value where they first differ.

    The matrix comes in `pieces` of columns, (n, b) each, which are read only as far as is needed.
    Of rows that are the same in all columns, the first.

    >>> values = torch.tensor([[1.0, 5.0], [1.0, 4.0], [0.0, 9.0]])
    >>> lexicographically_first([values], np.array([0, 1]))
    1
    """
    left = torch.from_numpy(rows)
    if len(left) == 1:
        return int(left[0])
    for piece in pieces:
        values = piece[left.to(piece.device)]
        while len(left) > 1:
            differing = (values != values[0]).any(dim=0).nonzero()
            if not len(differing):
                break
            column = values[:, int(differing[0, 0])]
            smallest = column == column.min()
            values, left = values[smallest], left[smallest.cpu()]
        if len(left) == 1:
            break
    return int(left[0])
