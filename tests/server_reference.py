"""Plain float64 references of the rules with server data, from their definitions, by SVD."""

import numpy as np

from tests.reference import Array, shared


def fltrust(x: Array, own: Array) -> Array:
    total, result = 0.0, np.zeros(x.shape[1])
    for row in x:
        length = np.sqrt(row @ row)
        trust = max(0.0, float(row @ own) / length / np.sqrt(own @ own)) if length else 0.0
        if trust:
            result += trust * np.sqrt(own @ own) / length * row
            total += trust
    return result / total if total else result


def zeno_plus_plus(x: Array, own: Array, *, lr: float, rho: float, epsilon: float) -> Array:
    passed = []
    for row in x:
        length = np.sqrt(row @ row)
        if length:
            scaled = row * np.sqrt(own @ own) / length
            if lr * (own @ scaled) - rho * (scaled @ scaled) + lr * epsilon >= 0:
                passed.append(scaled)
    return np.mean(passed, axis=0) if passed else np.zeros(x.shape[1])


def principal(points: Array, dimensions: int) -> tuple[Array, Array]:
    """The mean of points and their first principal directions, from a plain SVD."""
    centre = points.mean(axis=0)
    _, values, directions = np.linalg.svd(points - centre, full_matrices=False)
    real = values[:dimensions] > 1e-12 * values[0]
    return centre, directions[:dimensions][real]


def boba_mixes(x: Array, f: int, rows: Array, iterations: int = 20) -> tuple[Array, Array, Array]:
    """Estimated mixes (n, C), and the plane: its centre and directions."""
    n, classes = len(x), len(rows)
    centre, directions = principal(rows, classes - 1)
    before: set[int] = set()
    for _ in range(iterations):
        away = x - centre
        distances = np.sum((away - away @ directions.T @ directions) ** 2, axis=1)
        nearest = set(np.argsort(distances, kind="stable")[: n - f].tolist())
        if nearest == before:
            break
        before = nearest
        centre, directions = principal(x[sorted(nearest)], classes - 1)
    places = (x - centre) @ directions.T
    corners = (rows - centre) @ directions.T
    extended = np.column_stack([corners, np.ones(classes)])
    return np.column_stack([places, np.ones(n)]) @ np.linalg.pinv(extended), centre, directions


def boba(x: Array, f: int, rows: Array, least: float = -0.5, iterations: int = 20) -> Array:
    mixes, centre, directions = boba_mixes(x, f, rows, iterations)
    lows = mixes.min(axis=1)
    count = len(x) - f
    if sorted(lows)[f] > least:
        kept = (lows >= least) / np.sum(lows >= least)
    else:
        kept = shared((-lows).tolist(), count)
    return centre + kept @ ((x - centre) @ directions.T) @ directions
