"""Plain float64 references of the attacks and of the label mathematics, from their definitions.

The attacks take the honest updates, shape (h, d), and return the one row, shape (d,), that every
attacker sends.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tests.reference import Array, distance, mean, norm


def population_std(x: Array) -> Array:
    return np.sqrt(mean((x - mean(x)) ** 2))


def bisect_last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The last point of [low, high] where a condition holds that stays false once it is false."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def normal_quantile(probability: float) -> float:
    return bisect_last(lambda z: math.erfc(-z / math.sqrt(2)) / 2 < probability, -40.0, 40.0)


def sample_std(x: Array) -> Array:
    return np.sqrt(sum((row - mean(x)) ** 2 for row in x) / (len(x) - 1))


def supporters_needed(n: int, f: int) -> int:
    """How many honest workers make a majority of n together with f attackers."""
    return next(s for s in range(n + 1) if 2 * (s + f) > n)


def alie_factor(n: int, f: int) -> float:
    """The authors' code line: the share is one of all workers."""
    return normal_quantile((n - supporters_needed(n, f)) / n)


def alie_factor_of_honest(n: int, f: int) -> float:
    """Baruch et al., algorithm 3: the share is one of the honest workers."""
    return normal_quantile((n - f - supporters_needed(n, f)) / (n - f))


def alie(honest: Array, n: int, f: int) -> Array:
    return mean(honest) + alie_factor(n, f) * population_std(honest)


def foe(honest: Array, eps: float = 0.1) -> Array:
    return -eps * mean(honest)


def sign_flip(honest: Array) -> Array:
    return -mean(honest)


def most_surrounded_outlier(honest: Array, f: int) -> int:
    """The index that the paper's algorithm 2 chooses.

    Of scores equal up to rounding it is that of the row that a dictionary has first, and of equal
    rows the first.
    """
    scores = surrounded_scores(honest, f)
    best = [j for j, score in enumerate(scores) if score >= max(scores) * (1 - 1e-9)]
    return min(best, key=lambda j: tuple(honest[j]))


def surrounded_scores(honest: Array, f: int) -> list[float]:
    """The scores of the paper's algorithm 2, the mean over all ways to rank equally far vectors."""
    h = len(honest)
    center = mean(honest)
    scores = [0.0] * h
    for i in range(h):
        others = [j for j in range(h) if j != i]
        # Rank h is i itself, also among copies of v_i.
        scores[i] += min(f, h) * distance(honest[i], center)
        for j in others:
            gaps = [distance(honest[i], honest[k]) - distance(honest[i], honest[j]) for k in others]
            farther = sum(gap > 1e-9 for gap in gaps)
            tied = sum(abs(gap) <= 1e-9 for gap in gaps)
            ranks = range(farther + 1, farther + tied + 1)
            scores[j] += sum(min(f, r) for r in ranks) / tied * distance(honest[j], center)
    return scores


def perturbation(honest: Array, direction: str) -> Array:
    center = mean(honest)
    if direction == "std":
        return -population_std(honest)
    if direction == "unit":
        return -center / norm(center) if norm(center) > 0 else np.zeros_like(center)
    if direction == "sign":
        return -np.sign(center)
    raise ValueError(f"direction is {direction!r}; allowed: 'std', 'unit', 'sign'")


def farthest_feasible(
    honest: Array, direction: str, measure: Callable[[Array], float], bound: float
) -> Array:
    """mean + gamma * direction for the largest gamma >= 0 with measure(row) <= bound."""
    center, away = mean(honest), perturbation(honest, direction)
    if norm(away) == 0:
        return center

    def holds(gamma: float) -> bool:
        return measure(center + gamma * away) <= bound

    high = 1.0
    while holds(high):
        high *= 2
    return center + bisect_last(holds, 0.0, high) * away


def min_max(honest: Array, direction: str) -> Array:
    """No honest row is farther from the sent row than the two farthest honest rows."""

    def farthest(row: Array) -> float:
        return max(distance(row, other) for other in honest)

    return farthest_feasible(honest, direction, farthest, max(farthest(row) for row in honest))


def min_sum(honest: Array, direction: str) -> Array:
    """The squared distances to the honest rows sum to no more than those of some honest row."""

    def total(row: Array) -> float:
        return sum(distance(row, other) ** 2 for other in honest)

    return farthest_feasible(honest, direction, total, max(total(row) for row in honest))


def wola_weights(counts: npt.ArrayLike, q: npt.ArrayLike) -> Array:
    """q^y / p^y for the classes present; 0 for an absent class, whose weight is never used."""
    numbers, objective = np.asarray(counts, dtype=np.float64), np.asarray(q, dtype=np.float64)
    weights = np.zeros(len(numbers))
    for y, number in enumerate(numbers):
        if number > 0:
            weights[y] = objective[y] / (number / numbers.sum())
    return weights


def cross_entropy(logits: Array, target: int) -> float:
    shifted = logits - logits.max()
    return float(np.log(np.exp(shifted).sum()) - shifted[target])


def wola_loss(
    logits: Array, targets: npt.ArrayLike, counts: npt.ArrayLike, q: npt.ArrayLike
) -> float:
    weights = wola_weights(counts, q)
    labels = [int(y) for y in np.asarray(targets)]
    terms = [weights[y] * cross_entropy(row, y) for row, y in zip(logits, labels, strict=True)]
    return float(sum(terms) / len(terms))


def gradient_dissimilarity(x: Array) -> float:
    return sum(distance(row, mean(x)) ** 2 for row in x) / len(x)


def rarest_class_report(honest_distributions: Array) -> Array:
    """All mass on the class with the least mean share over the honest workers."""
    report = np.zeros(honest_distributions.shape[1])
    report[int(np.argmin(mean(honest_distributions)))] = 1.0
    return report
