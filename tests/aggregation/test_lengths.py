"""Lengths of combinations from inner products."""

import numpy as np
import pytest
import torch

from wola.aggregation.lengths import squared_lengths
from wola.aggregation.source import Matrix
from wola.aggregation.space import Space


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", [(6,), (3, 6), (2, 4, 6)])
def test_they_are_the_lengths_of_the_combinations_themselves(seed, shape):
    rng = np.random.default_rng(seed)
    x, coefficients = rng.standard_normal((6, 40)) + 3.0, rng.standard_normal(shape)
    squares, errors = squared_lengths(Space(Matrix(torch.from_numpy(x))), coefficients)
    expected = ((coefficients @ x) ** 2).sum(-1)
    np.testing.assert_allclose(squares, expected, rtol=1e-10)
    assert (np.abs(squares - expected) <= errors).all()


def test_differences_of_averages_keep_their_digits_beside_a_huge_common_part():
    x = np.random.default_rng(1).standard_normal((6, 40))
    coefficients = np.full((1, 6), 1 / 6) - np.eye(6)[:1]
    expected = ((coefficients @ x) ** 2).sum(-1)
    squares, _ = squared_lengths(Space(Matrix(torch.from_numpy(x + 1e8))), coefficients)
    np.testing.assert_allclose(squares, expected, rtol=1e-6)


def test_what_rounded_coefficients_cannot_tell_from_zero_is_zero():
    x = np.random.default_rng(1).standard_normal((6, 40))
    space = Space(Matrix(torch.from_numpy(x)))
    coefficients = 1e-13 * np.eye(6)
    assert squared_lengths(space, coefficients)[0].all()
    squares, errors = squared_lengths(space, coefficients, 1e-12)
    assert not squares.any()
    assert not errors.any()
