"""The kernels over sets do what a loop over members does."""

from itertools import combinations

import numpy as np
import pytest

from wola.aggregation import _set_kernels


def drawn(n, seed):
    rng = np.random.default_rng([n, seed])
    matrix = rng.uniform(-1, 1, size=(n, n))
    return (matrix + matrix.T) / 2 + 2 * np.eye(n)


def sets(n, f):
    every = list(combinations(range(n), f))
    return np.array(every, np.int32).reshape(len(every), f)


@pytest.mark.parametrize(("n", "f"), [(1, 0), (4, 0), (4, 1), (7, 1), (7, 2), (7, 3), (10, 3)])
@pytest.mark.parametrize("shortest", [1e-3, 4.0])
def test_coherences_are_means_of_the_smallest_cosines(n, f, shortest):
    plain, capped, out = drawn(n, 0), drawn(n, 1), np.empty(len(sets(n, f)))
    _set_kernels.coherences(sets(n, f), plain, capped, shortest, out)
    for absent, found in zip(sets(n, f).tolist(), out, strict=True):
        members = [i for i in range(n) if i not in absent]
        square = sum(plain[i, k] for i in members for k in members)
        length = max(np.sqrt(max(square, 0.0)), shortest)
        q = [1 + sum(capped[i, k] for k in members if k != i) for i in members]
        expected = np.mean(sorted(q)[: n - 2 * f]) / length
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("n", "f"), [(1, 0), (5, 2), (8, 3)])
def test_the_cheapest_set_is_the_first_of_least_cost_and_mean_slope(n, f):
    rng = np.random.default_rng(n)
    for _ in range(5):
        slope, costs = rng.normal(size=n), rng.normal(size=len(sets(n, f)))
        values = [
            cost + np.delete(slope, absent).mean()
            for absent, cost in zip(sets(n, f), costs, strict=True)
        ]
        assert _set_kernels.cheapest(sets(n, f), costs, slope) == np.argmin(values)
    assert _set_kernels.cheapest(sets(n, f), np.zeros(len(sets(n, f))), np.zeros(n)) == 0
