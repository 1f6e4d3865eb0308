"""The mixture of some points that is nearest to the origin, from their inner products."""

import numpy as np

from wola.aggregation.products import Floats


def nearest_mixture(products: Floats) -> Floats:
    r"""The distribution w (C,) with the least :math:`w^\top Q w`, Q the products (C, C) of points.

    Wolfe's algorithm: points are taken in as long as one lies on the other side of the plane
    through the nearest mixture so far, and left out where the nearest one in the plane of those
    taken in would need a negative share. It ends at the minimum, up to rounding. Reference: P.
    Wolfe, *Finding the nearest point in a polytope*, Mathematical Programming, 1976.

    >>> nearest_mixture(np.array([[1.0, -3.0], [-3.0, 9.0]])).round(6).tolist()
    [0.75, 0.25]
    """
    count = len(products)
    slack = 1e-12 * max(float(products.diagonal().max()), np.finfo(np.float64).tiny)
    weights = np.zeros(count)
    weights[int(np.argmin(products.diagonal()))] = 1.0
    for _ in range(20 * count):
        towards = products @ weights
        entering = int(np.argmin(towards))
        if weights[entering] > 0.0 or towards[entering] >= weights @ towards - slack:
            break
        before = weights
        weights = _descended(products, weights, entering)
        if weights @ products @ weights >= before @ towards:
            return before
    return weights


def _descended(products: Floats, weights: Floats, entering: int) -> Floats:
    """The nearest mixture once a point has entered, and others have left where they must."""
    taken = weights > 0.0
    taken[entering] = True
    while True:
        inside = np.flatnonzero(taken)
        target = np.zeros(len(weights))
        target[inside] = _nearest_in_plane(products[np.ix_(inside, inside)])
        target /= target.sum()
        leaving = inside[target[inside] <= 0.0]
        if not len(leaving):
            return target
        gaps = weights[leaving] - target[leaving]
        shares = np.where(gaps > 0.0, weights[leaving] / np.where(gaps > 0.0, gaps, 1.0), 0.0)
        weights = weights + shares.min() * (target - weights)
        gone = leaving[shares <= shares.min()]
        weights[gone] = 0.0
        weights = np.maximum(weights, 0.0) / np.maximum(weights, 0.0).sum()
        taken[gone] = False
        if taken.sum() == 1:
            return taken.astype(np.float64)


def _nearest_in_plane(products: Floats) -> Floats:
    """The weights, of any sign, with the sum 1 and the least length."""
    size = len(products)
    scale = float(products.diagonal().max()) or 1.0
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = products / scale
    system[size, size] = 0.0
    wanted = np.append(np.zeros(size), 1.0)
    solution: Floats = np.linalg.lstsq(system, wanted, rcond=None)[0][:size]
    return solution
