"""Selections that share their edge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wola.aggregation.selection import smallest, sums_of_smallest, tie_classes


def test_without_ties_the_smallest_weigh_the_same():
    np.testing.assert_array_equal(smallest([3.0, 1.0, 2.0, 9.0], 2), [0, 0.5, 0.5, 0])


def test_what_is_tied_at_the_edge_shares_what_is_left():
    np.testing.assert_allclose(smallest([1.0, 2, 2, 2, 5], 3), [1 / 3, *[2 / 9] * 3, 0])
    np.testing.assert_allclose(smallest([4.0, 4, 4], 2), [1 / 3] * 3)


def test_scores_within_their_errors_are_tied():
    scores = [1.0, 2.0, 2.2, 4.0]
    np.testing.assert_array_equal(smallest(scores, 2, 0.05), [0.5, 0.5, 0, 0])
    np.testing.assert_array_equal(smallest(scores, 2, 0.15), [0.5, 0.25, 0.25, 0])
    # The error of the one at the edge and of the other count, each with its own.
    np.testing.assert_array_equal(smallest(scores, 2, [0, 0.3, 0, 0]), [0.5, 0.25, 0.25, 0])


def test_each_row_is_a_selection_of_its_own():
    rows = np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 1.0]])
    np.testing.assert_array_equal(smallest(rows, 2), [[0.5, 0.5, 0], [0.25, 0.25, 0.5]])


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9), st.data())
def test_weights_sum_to_one_and_follow_the_scores(scores, data):
    count = data.draw(st.integers(1, len(scores)))
    order = data.draw(st.permutations(range(len(scores))))
    weights = smallest(scores, count)
    assert weights.sum() == pytest.approx(1)
    assert weights.max() <= 1 / count
    np.testing.assert_array_equal(smallest(np.array(scores)[order], count), weights[order])


@pytest.mark.parametrize("count", [0, -1, 4])
def test_a_count_beyond_the_scores_is_refused(count):
    with pytest.raises(ValueError, match=f"count = {count}; allowed: 1 to 3"):
        smallest([1.0, 2.0, 3.0], count)


def test_neighbours_within_their_errors_are_one_class():
    scores = np.array([5.0, 1.0, 1.15, 1.3, 3.0])
    errors = np.full(5, 0.1)
    assert tie_classes(scores, errors).tolist() == [2, 0, 0, 0, 1]


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 3.0])
def test_sums_of_smallest_lie_within_their_errors_of_what_could_be(power):
    rng = np.random.default_rng(3)
    squares = rng.uniform(0, 4, (20, 6))
    moved = squares + rng.uniform(-1e-3, 1e-3, squares.shape)
    sums, errors = sums_of_smallest(moved, np.full(squares.shape, 1e-3), 4, power)
    true = np.sort(np.maximum(squares, 0) ** (power / 2), axis=1)[:, :4].sum(axis=1)
    assert (np.abs(sums - true) <= errors).all()
    assert (errors < 0.2).all()
