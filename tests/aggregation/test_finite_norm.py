"""Vectors that are kept have a norm that their dtype can hold, and keep their direction."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wola.aggregation.finite_norm import added_with_finite_norm, with_finite_norm

DTYPES = [torch.float32, torch.float64]


def norm(vector):
    """In units of the largest number of its dtype, and the direction."""
    largest = torch.finfo(vector.dtype).max
    scaled = vector.double() / largest
    return float(scaled.norm()), scaled / scaled.norm()


@pytest.mark.parametrize("dtype", DTYPES)
@given(st.integers(1, 300), st.floats(0.01, 1.0), st.integers(0, 1000))
def test_a_norm_that_would_overflow_is_brought_down_and_the_direction_kept(dtype, d, share, seed):
    draw = torch.randn(d, generator=torch.Generator().manual_seed(seed)).to(dtype)
    vector = draw / draw.abs().max() * (share * torch.finfo(dtype).max)
    kept = with_finite_norm(vector)
    length, direction = norm(kept)
    assert length <= 1.0
    torch.testing.assert_close(direction, norm(vector)[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ordinary_vectors_are_left_as_they_are(dtype):
    for vector in (torch.zeros(3, dtype=dtype), torch.arange(4, dtype=dtype), torch.empty(0)):
        assert torch.equal(with_finite_norm(vector), vector)
        assert torch.equal(added_with_finite_norm(vector, vector), 2 * vector)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sum_that_overflows_is_shortened(dtype):
    largest = torch.finfo(dtype).max
    first = torch.tensor([0.9, 0.3, 0.0], dtype=dtype) * largest
    second = torch.tensor([0.9, -0.3, 0.6], dtype=dtype) * largest
    length, direction = norm(added_with_finite_norm(first, second))
    assert 0.01 < length <= 1.0
    expected = torch.tensor([1.8, 0.0, 0.6], dtype=torch.float64)
    torch.testing.assert_close(direction, expected / expected.norm(), rtol=0, atol=1e-6)
