"""Plain float64 references of the newer rules, written from their definitions on (n, d) updates.

As in `reference`: loops, singular vectors of the updates themselves, no inner products; values that
agree to a part in 10^11 are ties, and ties share.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from tests.reference import Array, distance, mean, norm, shared, tied, top_eigenpair


def rage(x: Array, f: int, bound: float = -1.0) -> Array:
    """The filter for updates without equal eigenvalues."""
    n = len(x)
    weights = np.ones(n)
    while True:
        mu = weights @ x / weights.sum()
        variance, direction = top_eigenpair(x, weights)
        tau = ((x - mu) @ direction) ** 2
        largest = max(t for t, w in zip(tau, weights, strict=True) if w > 0)
        if variance <= bound or variance < 1e-25 or largest == 0:
            return mu
        smaller = np.array(
            [
                0.0 if tied(t, largest) else max(0.0, w * (1 - t / largest))
                for t, w in zip(tau, weights, strict=True)
            ]
        )
        if smaller.sum() < (n - 2 * f) * (1 - 1e-9):
            return mu
        weights = smaller


def huber_pull(x: Array, z: Array, threshold: float) -> Array:
    """Minus the gradient of the sum of Huber losses at z."""
    pull = np.zeros_like(z)
    for row in x:
        r = distance(row, z)
        pull += (row - z) if r <= threshold else threshold * (row - z) / r
    return pull


def huber_threshold(x: Array) -> float:
    """The least distance within which one update has half of all."""
    return float(min(np.median([distance(row, other) for other in x]) for row in x))


def huber(x: Array, threshold: float | None = None) -> Array:
    """Smoothed Weiszfeld steps until they stand still; on a line the middle of the minimisers."""
    t = huber_threshold(x) if threshold is None else threshold
    if t == 0:
        return x[0].copy()
    if x.shape[1] == 1:
        return np.array([(_first_zero(x, t, 1.0) + _first_zero(x, t, -1.0)) / 2])
    z = mean(x)
    for _ in range(200_000):
        weights = 1 / np.maximum(t, np.linalg.norm(x - z, axis=1))
        new = weights @ x / weights.sum()
        moved, z = norm(new - z), new
        if moved <= 1e-15 * t:
            break
    return z


def _first_zero(x: Array, t: float, sign: float) -> float:
    """Where, coming from the left (1) or the right (-1), the pull stops pointing onwards."""
    low, high = float(x.min()), float(x.max())
    for _ in range(200):
        middle = (low + high) / 2
        onwards = sign * huber_pull(x, np.array([middle]), t)[0] > 1e-12 * t
        if onwards == (sign > 0):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def normalised_mean(x: Array) -> Array:
    return mean(np.array([row / norm(row) if norm(row) > 0 else row for row in x]))


def outlier_scores(x: Array) -> list[float]:
    """Squared projections of the centred updates on their top right singular vector."""
    _, direction = top_eigenpair(x, np.ones(len(x)))
    return [float((row - mean(x)) @ direction) ** 2 for row in x]


def dnc(x: Array, f: int, samples: Sequence[Array], c: float = 1.0) -> Array:
    """Divide and conquer over these samples of columns; who shares a place counts by its shares."""
    keep = len(x) - math.floor(c * f)
    shares = [keep * shared(outlier_scores(x[:, sample]), keep) for sample in samples]
    good = np.array([math.prod(share[i] for share in shares) for i in range(len(x))])
    if not good.any():
        votes = [sum(share[i] for share in shares) for i in range(len(x))]
        good = np.array([1.0 if tied(vote, max(votes)) else 0.0 for vote in votes])
    return good @ x / good.sum()


def gas(x: Array, f: int, groups: Sequence[Array], base: Callable[[Array, int], Array]) -> Array:
    """The mean of the n - f updates nearest to what the base rule makes of each group."""
    scores = np.zeros(len(x))
    for group in groups:
        aggregate = base(x[:, group], f)
        scores += [distance(row, aggregate) for row in x[:, group]]
    return shared(scores.tolist(), len(x) - f) @ x
