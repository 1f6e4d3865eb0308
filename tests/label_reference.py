"""Plain float64 references of the rules that read label reports, in (C, d), by pseudo-inverse."""

import numpy as np
import torch

from tests.reference import Array, coordinate_median, distance, norm, shared


def unit(a: Array) -> Array:
    return a / norm(a) if norm(a) else np.zeros_like(a)


def greco_representatives(x: Array, count: int) -> list[int]:
    """One by one the update farthest from the span of those before it; no ties."""
    chosen: list[int] = []
    while len(chosen) < min(count, len(x)):
        basis = x[chosen].T
        residuals = [norm(row - basis @ np.linalg.pinv(basis) @ row) for row in x]
        farthest = int(np.argmax(residuals))
        if residuals[farthest] < 1e-10 * norm(x[farthest]):
            break
        chosen.append(farthest)
    return chosen


def greco(x: Array, f: int, reports: Array, count: int = 4) -> Array:
    chosen = greco_representatives(x, count)
    gradients = np.linalg.pinv(reports[chosen]) @ x[chosen]
    scores = [
        distance(unit(row), unit(report @ gradients)) ** 2
        for row, report in zip(x, reports, strict=True)
    ]
    return shared([score if score > 1e-20 else 0.0 for score in scores], len(x) - f) @ x


def hullguard_draws(
    n: int, subsets: int, estimates: int, generator: torch.Generator
) -> tuple[Array, Array, Array]:
    """Numbers by which subsets, parts of subsets and buckets are drawn: the lowest are taken."""
    shapes = ((subsets, n), (subsets, estimates, n), (n,))
    one, two, three = (torch.rand(s, generator=generator, dtype=torch.float64) for s in shapes)
    return one.numpy(), two.numpy(), three.numpy()


def hullguard_spreads(
    x: Array, f: int, reports: Array, draws: tuple[Array, Array, Array]
) -> tuple[list[set[int]], list[float]]:
    """Who is in which subset, and how far its estimates are from their mean, squared."""
    n, classes = reports.shape
    members, spreads = [], []
    for subset_draw, part_draws in zip(draws[0], draws[1], strict=True):
        subset = sorted(range(n), key=subset_draw.__getitem__)[: n - f]
        gradients = []
        for part_draw in part_draws:
            part = sorted(subset, key=part_draw.__getitem__)[: 2 * classes]
            gradients.append(np.linalg.pinv(reports[part]) @ x[part])
        middle = sum(gradients) / len(gradients)
        spreads.append(sum(float(np.sum((g - middle) ** 2)) for g in gradients) / len(gradients))
        members.append(set(subset))
    return members, spreads


def hullguard_scores(n: int, members: list[set[int]], spreads: list[float]) -> list[float]:
    scores = []
    for worker in range(n):
        inside = [s for subset, s in zip(members, spreads, strict=True) if worker in subset]
        outside = [s for subset, s in zip(members, spreads, strict=True) if worker not in subset]
        wins = sum(1.0 * (a < b) + 0.5 * (a == b) for a in inside for b in outside)
        scores.append(wins / (len(inside) * len(outside)) if inside and outside else 0.5)
    return scores


def hullguard_kept(
    x: Array, f: int, reports: Array, draws: tuple[Array, Array, Array]
) -> list[int]:
    """The workers with the highest scores, in the order in which they are put into buckets."""
    scores = (
        hullguard_scores(len(x), *hullguard_spreads(x, f, reports, draws)) if f else [0.0] * len(x)
    )
    best = sorted(range(len(x)), key=lambda i: (-scores[i], draws[2][i]))[: len(x) - f]
    return sorted(best, key=draws[2].__getitem__)


def hullguard(
    x: Array, f: int, reports: Array, draws: tuple[Array, Array, Array], bucket: int = 2
) -> Array:
    kept = hullguard_kept(x, f, reports, draws)
    buckets = [kept[start : start + bucket] for start in range(0, len(kept), bucket)]
    return coordinate_median(np.array([x[members].mean(axis=0) for members in buckets]))
