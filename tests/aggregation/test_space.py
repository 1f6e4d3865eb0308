"""Gram space: inner products and distances against differences taken one by one in float64."""

import numpy as np
import pytest
import torch

from tests.reference import distance
from tests.rules import updates
from wola.aggregation import products
from wola.aggregation.products import centred_products, row_energies
from wola.aggregation.source import ColumnBlocks, Matrix
from wola.aggregation.space import Space
from wola.aggregation.view import View


def squared_distances(x):
    return np.array([[distance(a, b) ** 2 for b in x] for a in x])


def space_of(x, coefficients=None):
    return Space(Matrix(torch.from_numpy(x)), coefficients)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("n", "d"), [(1, 5), (2, 511), (4, 512), (7, 513), (9, 1100), (3, 140_000)]
)
def test_distances_norms_and_products_are_those_of_the_updates(n, d, dtype):
    x = updates(n, d).astype(dtype)
    exact = x.astype(np.float64)
    space = space_of(x)
    np.testing.assert_allclose(space.squared_distances, squared_distances(exact), rtol=1e-10)
    np.testing.assert_allclose(space.gram, exact @ exact.T, rtol=1e-9, atol=1e-9 * d)
    np.testing.assert_allclose(space.norms, np.linalg.norm(exact, axis=1), rtol=1e-10)
    np.testing.assert_allclose(
        row_energies(torch.from_numpy(x)), np.square(exact).sum(axis=1), rtol=1e-10
    )


def test_distances_survive_a_huge_common_part():
    rng = np.random.default_rng(0)
    x = 1e6 + 1e-2 * rng.normal(size=(8, 900))
    np.testing.assert_allclose(space_of(x).squared_distances, squared_distances(x), rtol=1e-7)


@pytest.mark.parametrize("magnitude", [1e6, 1e10, 1e20, 1e30])
@pytest.mark.parametrize("far", [1, 3])
def test_workers_far_away_do_not_disturb_distances_among_the_others(magnitude, far):
    x = updates(8, 600).astype(np.float32)
    near = space_of(x[far:]).squared_distances
    x[:far] = magnitude * np.sign(x[:far])
    distances = space_of(x).squared_distances
    np.testing.assert_allclose(distances[far:, far:], near, rtol=1e-6)
    np.testing.assert_allclose(
        distances[:far, far:], squared_distances(x.astype(np.float64))[:far, far:], rtol=1e-5
    )


def test_workers_far_away_in_one_block_only_do_not_disturb_the_others():
    x = updates(8, 1600).astype(np.float32)
    near = space_of(x[1:]).squared_distances
    x[0, 700] = 1e25
    np.testing.assert_allclose(space_of(x).squared_distances[1:, 1:], near, rtol=1e-6)


def test_norms_of_small_updates_survive_a_worker_far_away():
    x = updates(8, 60)
    x[0] *= 1e12
    np.testing.assert_allclose(space_of(x).norms[1:], np.linalg.norm(x[1:], axis=1), rtol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_the_torch_form_of_centred_products_gives_the_same_space(n):
    x = updates(n, 300)
    block = torch.from_numpy(x)
    plain = Space(Matrix(block), given_products=products._median_centred(block))
    compiled = Space(Matrix(block), given_products=centred_products(block))
    np.testing.assert_allclose(plain.squared_distances, compiled.squared_distances, rtol=1e-10)
    np.testing.assert_allclose(plain.gram, compiled.gram, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("magnitude", [1e10, 1e30])
def test_the_torch_form_of_centred_products_stands_a_worker_far_away(magnitude):
    x = updates(7, 300)
    near = squared_distances(x[1:])
    x[0] *= magnitude
    block = torch.from_numpy(x)
    plain = Space(Matrix(block), given_products=products._median_centred(block))
    np.testing.assert_allclose(plain.squared_distances[1:, 1:], near, rtol=1e-6)


def test_the_torch_form_of_distances_to_the_extremes_agrees_with_the_kernel():
    x = torch.from_numpy(updates(6, 2000))
    for compiled, plain in zip(
        products.distances_to_extremes(x),
        products._distances_to_extremes_torch(x),
        strict=True,
    ):
        np.testing.assert_allclose(compiled, plain, rtol=1e-12)


def test_mixtures_have_the_distances_and_the_columns_of_what_they_mix():
    x = updates(6, 9000)
    matrix = np.random.default_rng(4).normal(size=(4, 6))
    mixed = matrix @ x
    space = space_of(x).mix(matrix)
    assert space.n == 4
    np.testing.assert_allclose(space.squared_distances, squared_distances(mixed), rtol=1e-9)
    np.testing.assert_allclose(space.gram, mixed @ mixed.T, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(torch.cat(list(space.blocks()), 1).numpy(), mixed, atol=1e-12)
    twice = space.mix(np.ones((1, 4)))
    np.testing.assert_allclose(twice.combination(np.ones(1)).numpy(), mixed.sum(0), atol=1e-11)


@pytest.mark.parametrize("d", [9, 140_000])
def test_the_servers_own_rows_are_no_points(d):
    x, own = updates(5, d), updates(2, d, seed=1)
    space = Space.with_server_rows(Matrix(torch.from_numpy(x)), torch.from_numpy(own), View())
    assert (space.n, space.marks) == (5, 2)
    np.testing.assert_array_equal(torch.cat(list(space.blocks()), dim=1), x)
    np.testing.assert_allclose(space.with_marks.norms[5:], np.linalg.norm(own, axis=1))
    swapped = np.eye(5)[[1, 0, 2, 3, 4]]
    mixed = torch.cat(list(space.mix(swapped).blocks()), dim=1)
    np.testing.assert_array_equal(mixed, x[[1, 0, 2, 3, 4]])
    fewer = torch.cat(list(space.mix(np.eye(3, 5)).blocks()), dim=1)
    np.testing.assert_array_equal(fewer, x[:3])


def test_a_mixing_matrix_of_the_wrong_width_is_refused():
    with pytest.raises(ValueError, match=r"matrix has shape \(2, 5\); allowed: \(k, 6\)"):
        space_of(updates(6, 3)).mix(np.ones((2, 5)))


def test_blocks_of_columns_make_the_space_of_the_whole():
    x = updates(6, 1000)
    blocks = [torch.from_numpy(part) for part in np.split(x, [1, 1, 600], axis=1)]
    space = Space(ColumnBlocks(blocks))
    np.testing.assert_allclose(space.squared_distances, squared_distances(x), rtol=1e-10)
    np.testing.assert_allclose(
        space.combination(np.arange(6.0)).numpy(), np.arange(6.0) @ x, atol=1e-12
    )


@pytest.mark.parametrize("n", [1, 3, 4, 5, 8, 11])
def test_combinations_are_added_up_in_float64(n):
    x = updates(n, 1030).astype(np.float32)
    weights = np.random.default_rng(n).normal(size=n)
    expected = weights @ x.astype(np.float64)
    result = space_of(x).combination(weights).numpy()
    np.testing.assert_allclose(result, expected, rtol=2e-7, atol=1e-12)


@pytest.mark.parametrize("mixed", [False, True])
def test_restricted_to_some_columns_it_is_the_space_of_these_columns(mixed):
    rng = np.random.default_rng(5)
    x, coefficients = rng.normal(3.0, 1.0, (6, 50)), rng.uniform(size=(4, 6)) if mixed else None
    groups = [np.array([0, 7, 49]), np.arange(10, 40), np.array([12, 13])]
    whole = Space(ColumnBlocks(list(torch.split(torch.from_numpy(x), 11, dim=1))), coefficients)
    assert whole.columns == 50
    for group, part in zip(groups, whole.restricted(groups), strict=True):
        expected = space_of(x[:, group], coefficients)
        assert part.columns == len(group)
        np.testing.assert_allclose(part.gram, expected.gram, rtol=1e-12)
        np.testing.assert_allclose(part.squared_distances, expected.squared_distances, atol=1e-12)
        np.testing.assert_array_equal(torch.cat(list(part.source.pieces()), dim=1), x[:, group])
        fewer = part.source.keep(np.array([1, 4]))
        np.testing.assert_array_equal(torch.cat(list(fewer.pieces()), dim=1), x[[1, 4]][:, group])


def test_a_length_that_no_float_holds_in_the_spaces_own_unit_is_infinite():
    assert Space(Matrix(torch.zeros(2, 3)), exponent=-900).in_units(1e200) == np.inf
