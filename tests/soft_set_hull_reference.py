"""A plain float64 reference of SoftSetHull: all sets, vectors of d numbers, a generic solver."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.optimize import minimize

from tests.reference import Array

RIDGE = 1e-4


def least_mixture(points: Array, weights: Array, costs: Array) -> Array:
    """Shares of 1/2 |l @ points|^2 + 1/2 RIDGE |l @ weights|^2 + costs @ l at its least, (s,)."""
    quadratic = points @ points.T + RIDGE * weights @ weights.T
    found = minimize(
        lambda shares: 0.5 * shares @ quadratic @ shares + costs @ shares,
        np.full(len(costs), 1 / len(costs)),
        jac=lambda shares: quadratic @ shares + costs,
        bounds=[(0.0, 1.0)] * len(costs),
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 2000},
    ).x
    shares = np.maximum(found, 0.0)
    return shares / shares.sum()


class SoftSetHull:
    """What is kept of each pair by their names: rounds together, both average cosines."""

    def __init__(
        self,
        pace: float = 0.03,
        cap: float = 0.5,
        least: float = 0.2,
        price: float = 2.0,
        length: float = 0.65,
    ) -> None:
        self.pace, self.cap, self.least = pace, cap, least
        self.price, self.length = price, length
        self.pairs: dict[frozenset, tuple[int, float, float]] = {}

    def round(self, names: Sequence, x: Array, f: int) -> Array:
        n = len(x)
        lengths = [math.sqrt(row @ row) for row in x]
        u = np.array(
            [row / r if r > 0 else np.zeros_like(row) for row, r in zip(x, lengths, strict=True)]
        )
        for i in range(n):
            for j in range(i, n):
                self._meet(frozenset({names[i], names[j]}), float(u[i] @ u[j]))
        means, weights, agreements = [], [], []
        for members in combinations(range(n), n - f):
            square = sum(self._kept(names, i, k)[1] for i in members for k in members)
            long = max(math.sqrt(max(square, 0.0)), 1e-3)
            q = sorted(
                (1 + sum(self._kept(names, i, k)[2] for k in members if k != i)) / long
                for i in members
            )
            agreements.append(sum(q[: n - 2 * f]) / (n - 2 * f))
            means.append(sum(u[i] for i in members) / (n - f))
            weights.append([float(i in members) / (n - f) for i in range(n)])
        best = max(agreements)
        near = [s for s, p in enumerate(agreements) if p >= min(self.least, best) - 1e-10]
        points = np.array([means[s] for s in near])
        costs = np.array([self.price * (best - agreements[s]) for s in near])
        a = least_mixture(points, np.array([weights[s] for s in near]), costs) @ points
        reach = max(math.sqrt(a @ a), 0.02)
        return float(np.median(lengths)) * a * math.sqrt(max(1.0, self.length / reach))

    def _meet(self, pair: frozenset, cosine: float) -> None:
        t, plain, capped = self.pairs.get(pair, (0, 0.0, 0.0))
        r = max(self.pace, 1 / (t + 1))
        self.pairs[pair] = (
            t + 1,
            (1 - r) * plain + r * cosine,
            (1 - r) * capped + r * min(cosine, self.cap),
        )

    def _kept(self, names: Sequence, i: int, k: int) -> tuple[int, float, float]:
        return self.pairs[frozenset({names[i], names[k]})]
