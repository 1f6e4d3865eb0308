"""Nearest-neighbour mixing by angle."""

from dataclasses import dataclass

import numpy as np
from torch import Generator

from wola.aggregation.products import Floats
from wola.aggregation.selection import smallest
from wola.aggregation.space import Space
from wola.mixing.mixing import Mixing


@dataclass(frozen=True)
class AngleNNM(Mixing):
    """Replace each update by the mean of the n - f updates at the smallest angle to it.

    The cosine <x_i, x_j> / (||x_i|| ||x_j||) takes the place of the distance in `NNM`: where honest
    updates are m + e_i with noise longer than m, `NNM` prefers a short lie, even -m, to an honest
    neighbour, while the honest cosines stay positive. A zero update has cosine 0 with all, itself
    too. Updates tied at the edge share what the nearer ones leave. It says nothing about lengths:
    use it after `ClipLargest`. The mixing is our own; no bound on its error is proven, see
    docs/beyond.md.

    Cost: one pass over the updates for their inner products, O(n^2 d).

    Reference: ours.

    >>> import torch
    >>> AngleNNM()(torch.tensor([[4.0, 0.0], [8.0, 0.0], [-1.0, 0.0]]), f=1)[0]
    tensor([6., 0.])
    """

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """Row i holds 1/(n-f) at the n - f updates of smallest angle to i; ties at the edge share.

        What is compared is 1 - cos, known to the sum of the relative errors of two squared norms.
        """
        energies, slack = space.gram.diagonal(), space.energy_errors
        there = energies > slack
        lengths = np.sqrt(np.where(there, energies, 1.0))
        directions = np.where(there, 1.0 / lengths, 0.0)
        apart = 1.0 - directions[:, None] * space.gram * directions[None, :]
        relative = np.where(there, slack / lengths**2, 0.0)
        errors = relative[:, None] + relative[None, :]
        # What rounding cannot tell from the same direction has it.
        same = apart <= errors
        same |= np.diag(there)
        return smallest(np.where(same, 0.0, apart), space.n - f, np.where(same, 0.0, errors))
