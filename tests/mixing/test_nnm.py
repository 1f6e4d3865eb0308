"""Nearest-neighbour mixing."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests import exact_reference, reference
from tests.rules import assert_close, updates
from wola.mixing import NNM


def test_rows_of_the_matrix_are_means_of_n_minus_f_that_hold_the_diagonal():
    matrix = NNM().matrix(updates(9, 20), 4)
    assert ((matrix == 0) | (np.abs(matrix - 0.2) < 1e-15)).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert (matrix.diagonal() > 0).all()


def test_permuting_the_workers_permutes_the_mixtures():
    x = updates(9, 20)
    order = np.random.default_rng(3).permutation(9)
    np.testing.assert_allclose(NNM()(x[order], 4), NNM()(x, 4)[order], atol=1e-13)


def test_an_update_is_its_own_neighbour_even_among_duplicates():
    x = torch.tensor([[1.0], [1.0], [1.0], [5.0]])
    assert (NNM().matrix(x, 1).diagonal() > 0).all()


@settings(deadline=None, max_examples=60, derandomize=True)
@given(data=st.data())
def test_ties_at_the_edge_share(data):
    n, d = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 3))
    x = data.draw(arrays(np.float64, (n, d), elements=st.integers(-2, 2).map(float)))
    f = data.draw(st.integers(0, (n - 1) // 2))
    exact = exact_reference.nnm([[Fraction(int(v)) for v in row] for row in x], f)
    assert_close(NNM()(x, f), np.array(exact, dtype=np.float64), np.ones(1), 1e-12)


def test_more_duplicates_than_places_share_with_the_update_itself():
    x = torch.tensor([[1.0], [1.0], [1.0], [1.0], [5.0]], dtype=torch.float64)
    np.testing.assert_allclose(NNM().matrix(x, 2)[0], [0.25] * 4 + [0])
    np.testing.assert_allclose(NNM().matrix(x, 2)[4], [1 / 6] * 4 + [1 / 3])


@pytest.mark.parametrize("magnitude", [1e8, 1e20, 1e30])
def test_a_worker_far_away_does_not_change_the_neighbours_of_the_others(magnitude):
    x = updates(9, 40).astype(np.float32)
    x[3] = magnitude * np.sign(x[3])
    expected = reference.nnm(x.astype(np.float64), 4)
    others = np.arange(9) != 3
    assert_close(NNM()(x, 4)[others], expected[others], np.delete(x, 3, axis=0), 1e-5)


def test_a_huge_common_part_does_not_change_the_neighbours():
    rng = np.random.default_rng(8)
    common = rng.normal(size=500)
    common *= 1e6 / np.linalg.norm(common)
    small = rng.normal(size=(9, 500)) * (1e-2 / np.sqrt(500)) * rng.uniform(0.5, 1.5, (9, 1))
    x = common + small
    chosen = NNM().matrix(x, 4) > 0
    distances = np.linalg.norm(x[:, None] - x[None], axis=2)
    expected = distances <= np.sort(distances, axis=1)[:, [4]]
    np.testing.assert_array_equal(chosen, expected)
