"""Min-sum."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from wola.aggregation.products import Floats
from wola.attacks.min_distance import MinDistance


@dataclass(frozen=True)
class MinSum(MinDistance):
    """mean + gamma p with the largest gamma whose squared distances sum like an honest one's.

    sum_i ||m + gamma p - x_i||^2 <= max_j sum_i ||x_j - x_i||^2. As both sides are the sum of ||x_i
    - m||^2 plus h times the squared distance to the mean m, this says gamma = max_j ||x_j - m|| /
    ||p||. `direction` p is "std" (minus the population std), "unit" (-mean/||mean||) or "sign"
    (-sign(mean)).

    Defaults: `direction`: ours.

    Cost: two passes over the honest updates.

    Reference: V. Shejwalkar and A. Houmansadr, Manipulating the Byzantine: optimizing model
    poisoning attacks and defenses for federated learning, NDSS 2021.

    >>> import torch
    >>> MinSum()(torch.tensor([[1.0], [2.0], [3.0]]), f=1)
    tensor([[1.]])
    """

    def reach(self, honest: Tensor, squares: Floats, inner: Floats, energy: float) -> float:
        """max_j ||x_j - m|| / ||p||."""
        return float(np.sqrt(squares.max() / energy))
