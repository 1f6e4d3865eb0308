"""Smallest maximum eigenvalue averaging."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.rule import one_hot
from wola.aggregation.space import Floats, Space
from wola.aggregation.subsets import SubsetRule, subsets


@dataclass(frozen=True)
class SMEA(SubsetRule):
    """The mean of the n - f updates whose covariance has the smallest largest eigenvalue.

    Smallest maximum eigenvalue averaging. Searches all subsets and refuses above 200,000 of
    them; ties go to the lexicographically first. Accepts f < n/2. Reference: Y. Allouah, R.
    Guerraoui, N. Gupta, R. Pinot and J. Stephan, On the privacy-robustness-utility trilemma in
    distributed learning, ICML 2023.

    >>> import torch
    >>> SMEA()(torch.tensor([[0.0], [9.0], [1.0], [2.0]]), f=1)
    tensor([1.])
    """

    def most_subsets(self) -> int:
        """How many subsets are searched at most before the rule refuses."""
        return 200_000

    def weigh(self, space: Space, f: int) -> Floats:
        """Equal weights on the subset whose covariance is smallest in its worst direction."""
        gram = space.centred_gram
        best, chosen = np.inf, np.arange(space.n)
        for batch in subsets(space.n, space.n - f):
            inside = gram[batch[:, :, None], batch[:, None, :]]
            rows = inside.mean(axis=2, keepdims=True)
            centred = inside - rows - rows.transpose(0, 2, 1) + rows.mean(axis=1, keepdims=True)
            largest = np.linalg.eigvalsh(centred)[:, -1]
            k = int(largest.argmin())
            if largest[k] < best:
                best, chosen = float(largest[k]), batch[k]
        return one_hot(space.n, chosen)
