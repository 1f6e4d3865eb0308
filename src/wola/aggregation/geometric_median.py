"""The geometric median, exact or by a fixed number of smoothed Weiszfeld steps."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.selection import smallest, sums_of_smallest
from wola.aggregation.space import Space
from wola.ground.checks import check_number, check_whole

#: Where the exact median stops: a step this small against the spread of the points.
TOLERANCE = 1e-12
#: How much the pull of the others on an update may exceed its own by rounding alone.
AT_AN_UPDATE = 1e-9
#: Newton's method needs about ten steps; the rest is for what is nearly a line or a corner.
MOST_STEPS = 200


@dataclass(frozen=True)
class GeometricMedian(GramRule):
    """The point with the least sum of distances to the updates, argmin_z sum_i ||x_i - z||.

    By default the minimiser itself is found, in Gram space, by Newton's steps safeguarded by
    Weiszfeld's; the smoothing `nu` is taken from the spread of the updates, so the answer scales
    with them; when the best update is itself the minimiser, it is returned exactly, and where two
    are (only on a line, with even n) the point halfway between them. With `iterations` given, that
    many smoothed steps are taken from 0: z = sum_i w_i x_i / sum_i w_i, w_i = 1 / max(nu, ||x_i -
    z||). Breakdown point 1/2.

    Defaults: `iterations`, `nu`: ours. The WoLA paper's public code takes
    ``GeometricMedian(iterations=10, nu=0.1)`` for updates and 3 steps for label distributions (its
    text is silent): a rule that is the plain mean once all distances are below nu.

    Cost: one pass over the updates for their inner products, O(n^2 d), then a Newton step of O(n^3)
    some ten times.

    Reference: K. Pillutla, S. Kakade and Z. Harchaoui, Robust aggregation for federated learning,
    IEEE TSP 2022; Y. Vardi and C.-H. Zhang, The multivariate L1-median and associated data depth,
    PNAS 2000.

    >>> import torch
    >>> GeometricMedian()(torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [9.0, 7.0]]), f=1)
    tensor([0., 0.])
    """

    iterations: int | None = None
    nu: float | None = None

    def __post_init__(self) -> None:
        if self.iterations is not None:
            check_whole("iterations", self.iterations, least=1)
        if self.nu is not None:
            check_number("nu", self.nu, above=0)

    def weigh(self, space: Space, f: int) -> Floats:
        """The weights of the updates in their geometric median; they sum to 1."""
        distances = np.sqrt(space.squared_distances)
        spread = least_reach(distances)
        absolute = None if self.nu is None else space.in_units(self.nu)
        nu = absolute or max(1e-9 * spread, np.finfo(float).tiny)
        if self.iterations is not None:
            return _stepped(space, self.iterations, nu)
        if not distances.any():
            return np.full(space.n, 1.0 / space.n)
        at_updates = _minimising_updates(space, distances)
        if at_updates.any():
            return at_updates
        gram = space.centred_gram
        norms = np.sqrt(np.maximum(gram.diagonal(), 0.0))
        points = coordinates(gram, float(np.median(norms[norms > 0.0])))
        return shares(distances_to(points, _minimiser(points, nu)), nu)


def least_reach(distances: Floats) -> float:
    """The least distance within which one point has half of all; no minority can widen it."""
    return float(np.median(distances, axis=1).min())


def shares(distances: Floats, nu: float) -> Floats:
    """The weights of a Weiszfeld step, 1 / max(nu, distance), made to sum to 1, (n,)."""
    inverse = 1.0 / np.maximum(distances, nu)
    weights: Floats = inverse / inverse.sum()
    return weights


def _stepped(space: Space, steps: int, nu: float) -> Floats:
    gram = space.gram
    weights = shares(space.norms, nu)
    for _ in range(steps - 1):
        towards = gram @ weights
        squared = gram.diagonal() - 2 * towards + weights @ towards
        weights = shares(np.sqrt(np.maximum(squared, 0.0)), nu)
    return weights


def _minimising_updates(space: Space, distances: Floats) -> Floats:
    # Weights over the updates that are minimisers, equal for each point where some of them lie;
    # zeros if none is.
    sums, errors = sums_of_smallest(space.squared_distances, space.distance_errors, space.n, 1.0)
    near = np.flatnonzero(smallest(sums, 1, errors)).tolist()
    best = [k for k in near if _is_minimiser(space, distances, k)]
    here = distances[best] == 0.0
    weights = np.zeros(space.n)
    weights[best] = 1.0 / here[:, best].sum(axis=1)
    return weights / weights.sum() if best else weights


def _is_minimiser(space: Space, distances: Floats, k: int) -> bool:
    # Vardi and Zhang: x_k is the minimiser if the unit vectors towards the others add up to a
    # vector no longer than the number of updates that lie at x_k.
    apart = distances[k] > 0.0
    gram = space.centred_gram
    from_k = gram - gram[k] - gram[:, [k]] + gram[k, k]
    pull = np.zeros(space.n)
    pull[apart] = 1.0 / distances[k, apart]
    return bool(pull @ from_k @ pull <= np.count_nonzero(~apart) ** 2 * (1 + AT_AN_UPDATE))


def coordinates(gram: Floats, usual: float, errors: Floats | float = 0.0) -> Floats:
    """Points (n, r) with these inner products, each off by at most sqrt(errors_k errors_l).

    Directions that rounding alone can make are left out. Points farther out than `usual` are
    brought to that length before the eigenvectors are found, or the digits of the others would be
    lost to them.
    """
    norms = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    scales = np.maximum(norms / usual, 1.0)
    values, vectors = np.linalg.eigh(gram / np.outer(scales, scales))
    real = values > max(1e-15 * values[-1], float(np.sum(errors / scales**2)))
    points: Floats = scales[:, None] * vectors[:, real] * np.sqrt(values[real])
    return points


def distances_to(points: Floats, z: Floats) -> Floats:
    """The distances of points (n, r) to z (r,), (n,)."""
    norms: Floats = np.linalg.norm(points - z, axis=1)
    return norms


def _minimiser(points: Floats, nu: float) -> Floats:
    # Newton's steps, each at least as good as Weiszfeld's, which is always an improvement.
    z = np.median(points, axis=0)
    for _ in range(MOST_STEPS):
        distances = distances_to(points, z)
        weights = shares(distances, nu)
        candidates = [weights @ points, z + _newton_step(points, z, np.maximum(distances, nu))]
        changes = [_change(points, z, candidate, distances) for candidate in candidates]
        best = candidates[int(np.argmin(changes))]
        moved = float(np.linalg.norm(best - z))
        if min(changes) >= 0.0 or moved <= TOLERANCE * float(np.median(distances)):
            break
        z = best
    return z


def _change(points: Floats, z: Floats, candidate: Floats, distances: Floats) -> float:
    # The change of the sum of distances, by (a^2 - b^2) / (a + b) for each, since a difference of
    # sums would drown in the distances of far-away points.
    sums = 2 * points - z - candidate
    lengths = np.maximum(distances_to(points, candidate) + distances, np.finfo(float).tiny)
    return float((sums @ (z - candidate) / lengths).sum())


def _newton_step(points: Floats, z: Floats, distances: Floats) -> Floats:
    towards = (points - z) / distances[:, None]
    gradient = towards.sum(axis=0)
    inverse = 1.0 / distances
    curvature = inverse.sum() * np.eye(len(z)) - (towards.T * inverse) @ towards
    step: Floats = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
    return step
