"""Sorting networks, by the 0-1 principle: one that sorts all 0-1 inputs sorts every input."""

import itertools

import numpy as np
import pytest

from wola.aggregation._network import (
    comparator_array,
    odd_even_merge_sort,
    select_ranks,
    unrolled_source,
)


def apply(comparators, rows):
    rows = rows.copy()
    for a, b in comparators:
        rows[a], rows[b] = np.minimum(rows[a], rows[b]), np.maximum(rows[a], rows[b])
    return rows


def every_zero_one_input(n):
    return np.array(list(itertools.product((0, 1), repeat=n)), dtype=np.int8).T


@pytest.mark.parametrize("n", range(1, 11))
def test_the_sorting_network_sorts_every_zero_one_input(n):
    inputs = every_zero_one_input(n)
    np.testing.assert_array_equal(apply(odd_even_merge_sort(n), inputs), np.sort(inputs, axis=0))


@pytest.mark.parametrize("n", range(1, 11))
def test_pruned_networks_select_their_ranks_from_every_zero_one_input(n):
    inputs = every_zero_one_input(n)
    ranked = np.sort(inputs, axis=0)
    for low, high in itertools.combinations(range(n + 1), 2):
        selected = apply(select_ranks(n, low, high), inputs)[low:high]
        # Sums tell the multisets of zeros and ones apart.
        np.testing.assert_array_equal(selected.sum(axis=0), ranked[low:high].sum(axis=0))


@pytest.mark.parametrize("n", [11, 12, 16, 17, 23, 24, 31, 32, 33, 50, 64, 100])
def test_larger_networks_sort_and_select_random_inputs(n):
    inputs = np.random.default_rng(n).normal(size=(n, 300))
    ranked = np.sort(inputs, axis=0)
    np.testing.assert_array_equal(apply(odd_even_merge_sort(n), inputs), ranked)
    for low, high in ((0, 1), (n - 1, n), ((n - 1) // 2, n // 2 + 1), (n // 3, n - n // 3)):
        selected = np.sort(apply(select_ranks(n, low, high), inputs)[low:high], axis=0)
        np.testing.assert_array_equal(selected, ranked[low:high])


def test_comparators_point_downwards_and_stay_inside():
    for n in range(1, 40):
        assert all(0 <= a < b < n for a, b in odd_even_merge_sort(n))


def test_pruning_leaves_work_out():
    assert len(select_ranks(17, 8, 9)) < len(odd_even_merge_sort(17))
    assert select_ranks(9, 0, 9) == []


def test_the_array_of_a_whole_sort_is_not_pruned():
    assert comparator_array(9, 0, 9).tolist() == [list(c) for c in odd_even_merge_sort(9)]
    assert comparator_array(1, 0, 1).shape == (0, 2)


@pytest.mark.parametrize(("n", "low", "high"), [(1, 0, 1), (2, 0, 2), (5, 1, 4), (8, 3, 5)])
def test_the_unrolled_text_is_python_that_averages_the_ranks(n, low, high):
    namespace = {}
    exec(unrolled_source(n, low, high, keep_equal=True), namespace)
    x = np.random.default_rng(n).normal(size=(n, 20))
    out = np.zeros(20)
    clean = namespace["kernel"](x, 3, 17, 1e6, out)
    expected = np.sort(x, axis=0)[low:high].mean(axis=0)
    np.testing.assert_allclose(out[3:17], expected[3:17], rtol=1e-14)
    equal = np.full_like(x, 0.1)
    same = np.zeros(20)
    namespace["kernel"](equal, 0, 20, 1e6, same)
    assert (same == 0.1).all()
    assert not out[:3].any()
    assert not out[17:].any()
    assert clean
    assert not namespace["kernel"](x, 3, 17, 1e-6, out)
    x[0, 16] = np.nan
    assert not namespace["kernel"](x, 3, 17, 1e6, out)
