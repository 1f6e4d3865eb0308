"""Plain float64 references of the rules that remember, from their definitions, worker by worker."""

import math

import numpy as np

from tests.reference import Array, centered_clipping, shared


class ByGARSPlusPlus:
    """q of each worker by name."""

    def __init__(self, alpha: float, *, unit: bool = False, length: str = "own") -> None:
        self.alpha, self.unit, self.length = alpha, unit, length
        self.q: dict[object, float] = {}

    def round(self, names: list, x: Array, own: Array) -> Array:
        rows, server = x, own
        if self.unit:
            rows = np.array([row / np.sqrt(row @ row) for row in x])
            server = own / np.sqrt(own @ own)
        result = np.zeros(x.shape[1])
        for name, row in zip(names, rows, strict=True):
            result = result + self.q.get(name, 0.0) * row
            self.q[name] = (1 - self.alpha) * self.q.get(name, 0.0) + self.alpha * (row @ server)
        if self.length == "server" and result.any():
            result = result * np.sqrt(own @ own) / np.sqrt(result @ result)
        return result


class FoolsGold:
    """The sum of the updates of each worker by name."""

    def __init__(self, kappa: float = 1.0, eps: float = 1e-5, *, total: bool = False) -> None:
        self.kappa, self.eps, self.total = kappa, eps, total
        self.sums: dict[object, Array] = {}

    def round(self, names: list, x: Array) -> Array:
        n = len(x)
        for name, row in zip(names, x, strict=True):
            self.sums[name] = self.sums.get(name, 0.0) + row
        h = [self.sums[name] for name in names]
        cs = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                if i != j:
                    cs[i, j] = h[i] @ h[j] / math.sqrt((h[i] @ h[i]) * (h[j] @ h[j]))
        most = [max(cs[i]) + self.eps for i in range(n)]
        for i in range(n):
            for j in range(n):
                if i != j and most[i] < most[j]:
                    cs[i, j] *= most[i] / most[j]
        apart = [min(1.0, max(0.0, 1 - max(cs[i]))) for i in range(n)]
        farthest = max(apart)
        weights = np.zeros(n)
        for i in range(n):
            a = apart[i] / farthest
            a = 0.99 if a == 1.0 else a
            inside = a / (1 - a) + self.eps
            logit = math.log(inside) + 0.5 if inside > 0 else -math.inf
            weights[i] = min(1.0, max(0.0, self.kappa * logit))
        result = weights @ x
        return result if self.total else result / weights.sum()


class CenteredClipping:
    """The last aggregate."""

    def __init__(self, tau: float, iterations: int) -> None:
        self.tau, self.iterations = tau, iterations
        self.last: Array | None = None

    def round(self, names: list, x: Array) -> Array:
        start = np.zeros(x.shape[1]) if self.last is None else self.last
        self.last = centered_clipping(x, self.tau, self.iterations, start=start)
        return self.last


def monna(x: Array, f: int, own: Array, *, average_own: bool) -> Array:
    distances = [math.sqrt((row - own) @ (row - own)) for row in x]
    count = len(x) - f
    nearest = shared(distances, count) @ x
    return (count * nearest + own) / (count + 1) if average_own else nearest
