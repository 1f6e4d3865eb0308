"""Plain float64 references of every rule and mixing, written from their definitions.

Each function takes x of shape (n, d), d >= 1, with finite entries. They are slow on purpose: loops
over workers, coordinates and subsets, no shared intermediate result. Values that agree to a part in
10^11 are ties, and ties share. `exact_reference` has the same definitions in
fractions, for updates of whole numbers.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def distance(a: Array, b: Array) -> float:
    return float(np.sqrt(np.sum((a - b) ** 2)))


def norm(a: Array) -> float:
    return distance(a, np.zeros_like(a))


def tied(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-11 * max(abs(a), abs(b)) + 1e-14


def shared(scores: list[float], count: int) -> Array:
    """1/count for each of the `count` smallest; those tied with the last share what is left."""
    edge = sorted(scores)[count - 1]
    at_edge = [i for i, s in enumerate(scores) if tied(s, edge)]
    below = [i for i, s in enumerate(scores) if s < edge and i not in at_edge]
    weights = np.zeros(len(scores))
    weights[below] = 1 / count
    weights[at_edge] = (count - len(below)) / len(at_edge) / count
    return weights


def mean(x: Array) -> Array:
    return x.sum(axis=0) / len(x)


def middle_value(values: list[float]) -> float:
    ordered = sorted(values)
    n = len(ordered)
    if n % 2 == 1:
        return ordered[n // 2]
    return (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def coordinate_median(x: Array) -> Array:
    return np.array([middle_value(column.tolist()) for column in x.T])


def trimmed_mean(x: Array, f: int) -> Array:
    n = len(x)
    return np.array([sum(sorted(column.tolist())[f : n - f]) / (n - 2 * f) for column in x.T])


def mean_around_median(values: list[float], keep: int) -> float:
    center = middle_value(values)
    weights = shared([abs(value - center) for value in values], keep)
    return float(weights @ np.array(values))


def meamed(x: Array, f: int) -> Array:
    return np.array([mean_around_median(column.tolist(), len(x) - f) for column in x.T])


def geometric_median(x: Array) -> Array:
    """The minimiser of sum_i ||z - x_i||; on a line with even n, the middle of the minimisers.

    A data point is the minimiser exactly when the unit vectors towards the points elsewhere add up
    to no more than the number of its copies (Vardi and Zhang, 2000). Otherwise the sum is smooth
    near its minimiser: Weiszfeld steps come close and Newton steps finish.
    """
    center = mean(x)
    _, spread, axes = np.linalg.svd(x - center, full_matrices=False)
    axes = axes[spread > 1e-13 * max(spread[0], 1e-300)]
    points = (x - center) @ axes.T
    if len(axes) <= 1:
        return center + coordinate_median(points) @ axes

    for row in x:
        others = [other for other in x if distance(other, row) > 0]
        pull = sum(((other - row) / distance(other, row) for other in others), np.zeros_like(row))
        if norm(pull) <= len(x) - len(others):
            return row.copy()

    def slope(z: Array) -> Array:
        return sum(((z - p) / distance(z, p) for p in points), np.zeros(len(axes)))

    z = vardi_zhang(points, steps=100)
    for _ in range(100):
        curvature = np.zeros((len(axes), len(axes)))
        for p in points:
            unit = (z - p) / distance(z, p)
            curvature += (np.eye(len(axes)) - np.outer(unit, unit)) / distance(z, p)
        step = np.linalg.solve(curvature, slope(z))
        if norm(step) <= 1e-13 * spread[0]:
            return center + (z - step) @ axes
        # Along the Newton step the slope of a convex sum shrinks, unlike the sum itself, whose
        # changes drown in rounding long before z is exact.
        shorter = step
        while norm(slope(z - shorter)) >= norm(slope(z)) and norm(shorter) > 1e-20 * spread[0]:
            shorter = shorter / 2
        z = z - shorter
    raise ArithmeticError(f"no geometric median found: the last step was {step}")


def vardi_zhang(points: Array, steps: int) -> Array:
    """Weiszfeld's iteration that also leaves a data point which is not the minimiser."""
    z = mean(points)
    for _ in range(steps):
        others = [p for p in points if distance(z, p) > 0]
        copies = len(points) - len(others)
        total = sum(1 / distance(z, p) for p in others)
        target = sum((p / distance(z, p) for p in others), np.zeros_like(z)) / total
        pull = norm(target - z) * total
        stay = min(1.0, copies / pull) if pull > 0 else 1.0
        z = (1 - stay) * target + stay * z
    return z


def smoothed_weiszfeld(x: Array, iterations: int, nu: float) -> Array:
    z = np.zeros(x.shape[1])
    for _ in range(iterations):
        weights = [1 / max(nu, distance(z, row)) for row in x]
        z = sum((w * row for w, row in zip(weights, x, strict=True)), np.zeros_like(z))
        z = z / sum(weights)
    return z


def nearest_sum(x: Array, i: int, count: int, power: float) -> float:
    powers = sorted(distance(x[i], x[j]) ** power for j in range(len(x)) if j != i)
    return sum(powers[:count])


def krum_scores(x: Array, f: int, power: float = 2) -> Array:
    count = max(len(x) - f - 2, 1)
    return np.array([nearest_sum(x, i, count, power) for i in range(len(x))])


def krum(x: Array, f: int, power: float = 2) -> Array:
    return shared(krum_scores(x, f, power).tolist(), 1) @ x


def multi_krum(x: Array, f: int, power: float = 2, m: int | None = None) -> Array:
    return shared(krum_scores(x, f, power).tolist(), len(x) - f if m is None else m) @ x


def bulyan(x: Array, f: int) -> Array:
    n = len(x)
    remaining = list(x)
    selected: list[Array] = []
    while len(selected) < n - 2 * f:
        pool = np.array(remaining)
        count = max(len(pool) - f - 2, 1)
        scores = [nearest_sum(pool, i, count, 2) for i in range(len(pool))]
        best = [i for i, weight in enumerate(shared(scores, 1)) if weight > 0]
        left = n - 2 * f - len(selected)
        selected += [mean(pool[best])] * left if len(best) > left else list(pool[best])
        remaining = [row for i, row in enumerate(remaining) if i not in best]
    return np.array([mean_around_median(c.tolist(), n - 4 * f) for c in np.array(selected).T])


def mean_of_best_subsets(x: Array, size: int, score: Callable[[tuple[int, ...]], float]) -> Array:
    every = list(combinations(range(len(x)), size))
    weights = shared([score(subset) for subset in every], 1)
    return np.array(
        sum(
            (w * mean(x[list(s)]) for w, s in zip(weights, every, strict=True)), np.zeros_like(x[0])
        )
    )


def minimum_diameter_averaging(x: Array, f: int) -> Array:
    def diameter(subset: tuple[int, ...]) -> float:
        return max((distance(x[i], x[j]) for i, j in combinations(subset, 2)), default=0.0)

    return mean_of_best_subsets(x, len(x) - f, diameter)


def comparative_gradient_elimination(x: Array, f: int) -> Array:
    return shared([norm(row) for row in x], len(x) - f) @ x


def clip(row: Array, max_norm: float) -> Array:
    return row * (max_norm / norm(row)) if norm(row) > max_norm else row.copy()


def centered_clipping(x: Array, tau: float, iterations: int, start: Array | float = 0.0) -> Array:
    v = np.zeros(x.shape[1]) + start
    for _ in range(iterations):
        v = v + mean(np.array([clip(row - v, tau) for row in x]))
    return v


def top_eigenpair(x: Array, weights: Array) -> tuple[float, Array]:
    """Largest eigenvalue and eigenvector of sum_i w_i (x_i - mu)(x_i - mu)^T / sum_i w_i."""
    mu = weights @ x / weights.sum()
    # The covariance is A^T A for this A: its eigenvalues are the squared singular values of A.
    scaled = (x - mu) * np.sqrt(weights / weights.sum())[:, None]
    _, singular, vectors = np.linalg.svd(scaled, full_matrices=False)
    return float(singular[0] ** 2), vectors[0]


def smea(x: Array, f: int) -> Array:
    def largest(subset: tuple[int, ...]) -> float:
        return top_eigenpair(x[list(subset)], np.ones(len(subset)))[0]

    return mean_of_best_subsets(x, len(x) - f, largest)


def caf(x: Array, f: int, *, all_set_the_pace: bool = True) -> Array:
    """The filter as its authors' library writes it, for updates without equal eigenvalues.

    It ends, too, after 1,000 steps, or when a step moves neither the sum of the weights nor the
    eigenvalue by a part in a million.
    """
    n = len(x)
    weights = np.ones(n)
    best, least, before = mean(x), np.inf, (np.inf, np.inf)
    for _ in range(1000):
        if weights.sum() <= (n - 2 * f) * (1 + 1e-9):
            break
        mu = weights @ x / weights.sum()
        eigenvalue, direction = top_eigenpair(x, weights)
        if eigenvalue < least * (1 - 1e-9):
            best, least = mu, eigenvalue
        tau = ((x - mu) @ direction) ** 2
        tau_max = tau.max() if all_set_the_pace else tau[weights > 0].max()
        now = (weights.sum(), eigenvalue)
        if eigenvalue < 1e-25 or all(
            b < np.inf and a > b * (1 - 1e-6) for a, b in zip(now, before, strict=True)
        ):
            break
        before = now
        weights = np.where(tau < tau_max * (1 - 1e-9), weights * (1 - tau / tau_max), 0.0)
    return best


def nnm(x: Array, f: int) -> Array:
    n = len(x)
    return np.array([shared([distance(row, other) for other in x], n - f) @ x for row in x])


def bucketing(x: Array, permutation: npt.ArrayLike, s: int) -> Array:
    """Means of s shuffled rows at a time; the last bucket holds what is left."""
    shuffled = x[np.asarray(permutation)]
    return np.array([mean(shuffled[start : start + s]) for start in range(0, len(x), s)])


def foundation_fl(x: Array) -> Array:
    highest, lowest = x.max(axis=0), x.min(axis=0)
    scores = [min(distance(highest, row), distance(lowest, row)) for row in x]
    best = shared([-score for score in scores], 1) @ x
    return np.array([*x, *[best] * (len(x) // 2)])


def clipping(x: Array, max_norm: float) -> Array:
    return np.array([clip(row, max_norm) for row in x])


def clip_largest(x: Array, f: int) -> Array:
    return clipping(x, sorted((norm(row) for row in x), reverse=True)[f])


def angle_nnm(x: Array, f: int) -> Array:
    """Means of the n - f rows of largest cosine; a zero row has cosine 0 with all."""
    lengths = [norm(row) for row in x]
    units = [row / length if length else 0 * row for row, length in zip(x, lengths, strict=True)]
    far = [
        [distance(unit, other) if unit.any() and other.any() else 2**0.5 for other in units]
        for unit in units
    ]
    return np.array([shared(row, len(x) - f) @ x for row in far])


def arc(x: Array, f: int) -> Array:
    n = len(x)
    k = 2 * f * (n - f) // n
    return clipping(x, sorted((norm(row) for row in x), reverse=True)[k])
