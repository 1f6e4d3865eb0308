"""The least of a squared length plus a cost over all mixtures of means of sets of workers."""

import numpy as np
from numpy.typing import NDArray

from wola.aggregation import _set_kernels
from wola.aggregation.products import Floats

#: A set that would lower the objective at no steeper slope than this is not taken in.
STEEP = 1e-13
#: What rises or falls less is level.
LEVEL = 1e-14
#: Directions in which the objective is curved less, relative to its products, are straight.
CURVED = 1e-13


def hull_minimum(products: Floats, left_out: NDArray[np.int32], costs: Floats) -> Floats:
    r"""The weights over n workers of the mixture of sets that minimises length and cost, (n,).

    .. math:: \min_\lambda \tfrac12 \| \sum_S \lambda_S m_S \|^2 + \sum_S \lambda_S c_S
        \quad\text{with}\quad \lambda \ge 0, \ \sum_S \lambda_S = 1

    with m_S the mean of the vectors of a set, whose inner products are `products` (n, n). Row s of
    `left_out` (s, f) holds the workers that set s lacks, `costs` (s,) are the c_S. The vector that
    minimises is unique; its weights are so where the vectors are independent. Frank-Wolfe steps,
    each followed by the exact minimum over the sets met so far (an active set method): few sets are
    ever held, and what is found is the minimum up to rounding.

    >>> opposite = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> hull_minimum(opposite, np.array([[1], [0]], np.int32), np.array([0.0, 0.4]))
    array([0.6, 0.4])
    """
    n = len(products)
    held = [int(costs.argmin())]
    shares, points = np.ones(1), _points(left_out[held], n)
    met: set[frozenset[int]] = set()
    # Each choice of sets has one minimum, below the one before: only rounding can bring one back.
    while frozenset(held) not in met:
        met.add(frozenset(held))
        slope = products @ (shares @ points)
        new = int(_set_kernels.cheapest(left_out, costs, slope))
        point = _points(left_out[[new]], n)
        values = points @ slope + costs[held]
        if new in held or shares @ values - (point[0] @ slope + costs[new]) <= STEEP:
            break
        held, points = [*held, new], np.vstack([points, point])
        shares = least_shares(points @ products @ points.T, costs[held], np.append(shares, 0.0))
        real = np.flatnonzero(shares)
        held, points, shares = [held[k] for k in real], points[real], shares[real]
    weights: Floats = shares @ points
    return weights


def _points(left_out: NDArray[np.int32], n: int) -> Floats:
    """The weights over n workers of the means of sets, (s, n)."""
    inside = np.ones((len(left_out), n))
    np.put_along_axis(inside, left_out, 0.0, axis=1)
    inside /= n - left_out.shape[1]
    return inside


def least_shares(quadratic: Floats, costs: Floats, shares: Floats) -> Floats:
    """The shares (k,) that minimise 1/2 l'Ql + c'l, not negative and summing to 1, from a start.

    Each round goes to the minimum where the shares held may take any sign, or as far that way as no
    share falls below 0, and lets go of the share that is 0 there. Where the objective is straight
    and not level it has no minimum, and the way leads to the edge.

    >>> least_shares(np.eye(2), np.array([0.0, 0.5]), np.array([0.0, 1.0]))
    array([0.75, 0.25])
    """
    shares, held = shares.copy(), np.arange(len(shares))
    while len(held) > 1:
        move, bounded = _way_down(quadratic[np.ix_(held, held)], costs[held], shares[held])
        falling = np.flatnonzero(move < 0.0)
        limits = shares[held[falling]] / -move[falling]
        if not len(falling) or (bounded and limits.min() > 1.0):
            shares[held] += move
            break
        first = limits.argmin()
        shares[held] = np.maximum(shares[held] + limits[first] * move, 0.0)
        shares[held[falling[first]]] = 0.0
        held = np.delete(held, falling[first])
    normed: Floats = shares / shares.sum()
    return normed


def _way_down(quadratic: Floats, costs: Floats, shares: Floats) -> tuple[Floats, bool]:
    """The step to the minimum along shares of one sum, or a way without one; whether it ends."""
    # What the last share loses the others gain: no step changes the sum, however it is rounded.
    exchange = np.vstack([np.eye(len(shares) - 1), np.full(len(shares) - 1, -1.0)])
    curvatures, eigenvectors = np.linalg.eigh(exchange.T @ quadratic @ exchange)
    directions = exchange @ eigenvectors
    along = (quadratic @ shares + costs) @ directions
    straight = curvatures <= CURVED * np.abs(quadratic).max()
    incline = directions[:, straight] @ along[straight]
    if np.abs(incline).max(initial=0.0) > LEVEL:
        return -incline, False
    step: Floats = directions[:, ~straight] @ (along[~straight] / curvatures[~straight])
    return -step, True
