"""Vectors that are kept have a norm that their dtype can hold, and keep their direction."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wola.aggregation.finite_norm import has_finite_peak, with_finite_norm

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
    before = norm(vector)[0]
    assert length == pytest.approx(min(before, 0.25), rel=1e-5)
    assert (kept is vector) == (before <= 0.25) or before == pytest.approx(0.25)
    torch.testing.assert_close(direction, norm(vector)[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ordinary_vectors_are_left_as_they_are(dtype):
    for vector in (torch.zeros(3, dtype=dtype), torch.arange(4, dtype=dtype), torch.empty(0)):
        assert torch.equal(with_finite_norm(vector), vector)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_not_finite_is_found_wherever_it_is(value):
    assert has_finite_peak(torch.zeros(0))
    assert has_finite_peak(torch.tensor([3e38, -3e38]))
    for place in range(4):
        vector = torch.ones(4)
        vector[place] = value
        assert not has_finite_peak(vector)
