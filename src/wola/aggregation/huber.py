"""The point with the least sum of Huber losses."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.geometric_median import (
    MOST_STEPS,
    TOLERANCE,
    GeometricMedian,
    coordinates,
    distances_to,
    least_reach,
    shares,
)
from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.space import Space
from wola.ground.checks import check_number

#: A threshold below this share of the spread makes the geometric median, up to rounding.
LEAST_SHARE = 1e-9
#: A sum of pulls this small, against the largest that n updates can have, is none.
BALANCED = 1e-12
#: A sum of pulls that is rounding alone, for each update.
ROUNDED = 1e-15
#: How often a Newton step is halved at most.
HALVINGS = 30


@dataclass(frozen=True)
class Huber(GramRule):
    """The point with the least sum of Huber losses, argmin_z sum_i h(||x_i - z||).

    h(r) = r^2 / 2 up to `threshold`, and T (r - T/2) beyond, T the threshold: the mean of updates
    that are near each other, and a pull of no more than T from each one farther away. The
    minimiser is the fixed point of the smoothed Weiszfeld step, z = sum_i w_i x_i / sum_i w_i with
    w_i = 1 / max(T, ||x_i - z||), so `GeometricMedian(iterations=..., nu=T)` comes ever closer to
    it; here it is found, in Gram space, by Newton's steps safeguarded by Weiszfeld's. It is unique
    unless the updates lie on a line; then the middle of all minimisers is taken.

    Breakdown point 1/2. Every update counts, so there are no ties.

    Defaults: `threshold`: ours, the least distance within which one update has half of all: no
    minority can widen it, and the rule scales with the updates. The authors choose T from the
    variance of the updates, which a server does not know.

    Cost: one pass over the updates for their inner products, O(n^2 d), then a Newton step of O(n^3)
    some ten times.

    Reference: P. Zhao, F. Yu and Z. Wan, A Huber loss minimization approach to Byzantine robust
    federated learning, AAAI 2024.

    >>> import torch
    >>> Huber(threshold=1.0)(torch.tensor([[0.0], [0.5], [1.0], [90.0]]), f=1)
    tensor([0.8333])
    """

    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None:
            check_number("threshold", self.threshold, above=0)

    def weigh(self, space: Space, f: int) -> Floats:
        """The weights of the updates in the minimiser; they sum to 1."""
        distances = np.sqrt(space.squared_distances)
        reach = least_reach(distances)
        if self.threshold is None and reach == 0.0:
            return GeometricMedian().weigh(space, f)
        largest = float(distances.max())
        if largest == 0.0:
            return np.full(space.n, 1.0 / space.n)
        given = reach if self.threshold is None else space.in_units(self.threshold)
        threshold = min(max(given, LEAST_SHARE * reach, np.finfo(float).tiny), largest)
        points = _points(space, distances)
        if points.shape[1] == 1:
            z = _middle_on_a_line(points[:, 0], threshold)
        else:
            z = _minimiser(points, threshold)
        return shares(distances_to(points, z), threshold)


def _points(space: Space, distances: Floats) -> Floats:
    """Coordinates (n, r) of the updates, seen from one in their middle; r = 1 on a line."""
    k = int(np.argmin(np.median(distances, axis=1)))
    usual = np.median(distances[k]) or distances[k, distances[k] > 0.0].min()
    gram, reach = space.centred_gram, np.sqrt(space.gram_errors)
    from_k = gram - gram[k] - gram[:, [k]] + gram[k, k]
    return coordinates(from_k, float(usual), (reach + reach[k]) ** 2)


def _pull(points: Floats, z: Floats, threshold: float) -> float:
    """The length of the sum of what pulls z to each point, by at most 1: 0 at the minimiser."""
    longer = np.maximum(distances_to(points, z), threshold)
    return float(np.linalg.norm(((points - z) / longer[:, None]).sum(axis=0)))


def _middle_on_a_line(values: Floats, threshold: float) -> Floats:
    # The pull falls from n to -n, straight between these bends: its zeros are an interval.
    bends = np.sort(np.concatenate([values - threshold, values + threshold]))
    pulls = np.clip((values - bends[:, None]) / threshold, -1.0, 1.0).sum(axis=1)
    none = np.abs(pulls) <= BALANCED * len(values)
    if none.any():
        return np.array([(bends[none].min() + bends[none].max()) / 2])
    after = int(np.argmax(pulls < 0.0))
    left, right = bends[after - 1 : after + 1]
    high, low = pulls[after - 1 : after + 1]
    return np.array([left + (right - left) * high / (high - low)])


def _minimiser(points: Floats, threshold: float) -> Floats:
    # Newton's step, halved until it shortens the pull; else Weiszfeld's, which always improves.
    z: Floats = points[_lowest(points, threshold)]
    for _ in range(MOST_STEPS):
        distances = distances_to(points, z)
        pull = _pull(points, z, threshold)
        if pull <= ROUNDED * len(points):
            break
        newton = _newton_step(points, z, distances, threshold)
        shorter = (newton * 0.5**k for k in range(HALVINGS))
        weiszfeld = shares(distances, threshold) @ points - z
        step = next((s for s in shorter if _pull(points, z + s, threshold) < pull), weiszfeld)
        z = z + step
        if float(np.linalg.norm(step)) <= TOLERANCE * threshold:
            break
    return z


def _lowest(points: Floats, threshold: float) -> int:
    """The update with the smallest sum of Huber losses: where Newton starts."""
    apart = np.array([distances_to(points, point) for point in points])
    near = np.minimum(apart, threshold)
    return int(np.argmin((near * (apart - near / 2)).sum(axis=1)))


def _newton_step(points: Floats, z: Floats, distances: Floats, threshold: float) -> Floats:
    inverse = 1.0 / np.maximum(distances, threshold)
    towards = (points - z) * inverse[:, None]
    beyond = towards[distances > threshold]
    curvature = inverse.sum() * np.eye(len(z))
    curvature -= (beyond.T * inverse[distances > threshold]) @ beyond
    step: Floats = np.linalg.lstsq(curvature, towards.sum(axis=0), rcond=None)[0]
    return step
