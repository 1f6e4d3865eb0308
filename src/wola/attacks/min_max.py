"""Min-max."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from wola.aggregation.opening import open_space
from wola.aggregation.products import Floats
from wola.aggregation.source import Matrix
from wola.attacks.min_distance import MinDistance


@dataclass(frozen=True)
class MinMax(MinDistance):
    """mean + gamma p with the largest gamma that keeps it within the honest diameter.

    No honest update may be farther from what is sent than the two farthest honest ones from each
    other: max_i ||m + gamma p - x_i|| <= max_ij ||x_i - x_j||. Per worker that is a quadratic in
    gamma, so the answer is the smallest of h roots: no search. `direction` p is "std" (minus the
    population std), "unit" (-mean/||mean||) or "sign" (-sign(mean)).

    Defaults: `direction`: ours.

    Cost: one pass over the honest updates for their inner products, O(h^2 d), and one for the
    direction.

    Reference: V. Shejwalkar and A. Houmansadr, Manipulating the Byzantine: optimizing model
    poisoning attacks and defenses for federated learning, NDSS 2021.

    >>> import torch
    >>> MinMax()(torch.tensor([[1.0], [2.0], [3.0]]), f=1)
    tensor([[1.]])
    """

    def reach(self, honest: Tensor, squares: Floats, inner: Floats, energy: float) -> float:
        """min_i of the root of ||p||^2 g^2 + 2 <p, m - x_i> g + ||m - x_i||^2 = diameter^2."""
        space, _, _ = open_space(Matrix(honest), 0, needs_products=True)
        diameter = np.ldexp(space.squared_distances.max(), 2 * space.exponent)
        room = np.maximum(diameter - squares, 0.0)
        root = np.sqrt(inner**2 + energy * room)
        # Of the two forms of the root, the one that does not subtract equal numbers.
        outward = inner > 0
        safe = np.where(outward, root + inner, 1.0)
        gammas = np.where(outward, room / safe, (root - inner) / energy)
        return float(gammas.min())
