"""The mean of the directions of the updates."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.space import Space


@dataclass(frozen=True)
class NormalisedMean(GramRule):
    """The mean of the updates scaled to length 1, (1/n) sum_i x_i / ||x_i||: Fed-NGA.

    No worker moves the result by more than 1/n, and the result is never longer than 1, whatever the
    size of the updates: the learning rate alone is the length of a step. Weights need not sum to 1.
    Every update counts, so there are no ties. An update of length 0, or so short that 1/||x_i||
    overflows, counts as 0. The authors weight workers by how much data they say they have; here all
    count alike, since a liar could claim any amount (our choice). Accepts f < n/2.

    Cost: one pass over the updates for their norms, and one for the mean.

    Reference: S. Zuo, X. Yan, R. Fan, L. Shen, P. Zhao, J. Xu and H. Hu, Efficient federated
    learning against Byzantine attacks and data heterogeneity via aggregating normalized gradients,
    NeurIPS 2025.

    >>> import torch
    >>> NormalisedMean()(torch.tensor([[3.0, 4.0], [0.0, 0.5], [-70.0, 0.0]]), f=1)
    tensor([-0.1333,  0.6000])
    """

    needs_products: ClassVar[bool] = False

    def weigh(self, space: Space, f: int) -> Floats:
        """1 / (n ||x_i||), and 0 for an update without a length."""
        real = space.energies > space.energy_errors
        lengths = np.where(real, space.norms, np.inf)
        with np.errstate(over="ignore"):
            weights = space.in_units(1.0) / (space.n * lengths)
        return np.where(np.isfinite(weights), weights, 0.0)
