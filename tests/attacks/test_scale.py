"""Powers of two for updates of any size."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.sample import honest_updates
from wola.attacks._scale import (
    exponent_of,
    norms_and_peaks,
    scaling,
    times_power_of_two,
    unit,
)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-2000, 2000))
def test_a_power_of_two_is_exact_wherever_the_result_can_be_held(value, exponent):
    exact = Fraction(value) * Fraction(2) ** exponent
    found = float(times_power_of_two(torch.tensor([value], dtype=torch.float64), exponent)[0])
    if Fraction(2) ** -1022 <= abs(exact) < Fraction(2) ** 1024 or exact == 0:
        assert Fraction(found) == exact
    else:
        assert not math.isnan(found)


@settings(deadline=None)
@given(st.floats(1e-320, 1e308))
def test_an_exponent_brings_a_peak_below_one(peak):
    exponent = exponent_of(peak)
    assert Fraction(1, 2) <= Fraction(peak) / Fraction(2) ** exponent < 1


@settings(deadline=None)
@given(st.sampled_from([1e-300, 1e-160, 1e-39, 1.0, 1e39, 1e160, 1e300]))
def test_norms_are_found_at_every_size(scale):
    rows = honest_updates(4, 9)
    norms, peaks = norms_and_peaks(rows * scale)
    expected = [math.hypot(*row) for row in (rows * scale).tolist()]
    np.testing.assert_allclose(norms, expected, rtol=1e-12)
    assert (peaks <= norms).all()


def test_broken_rows_and_those_whose_norm_overflows_are_told_from_huge_ones():
    rows = torch.full((4, 3), 1e308, dtype=torch.float64)
    rows[0, 1], rows[1, 1] = float("nan"), float("inf")
    rows[2] *= 1.5
    norms, _ = norms_and_peaks(rows)
    assert math.isnan(norms[0])
    assert norms[1:3].tolist() == [math.inf, math.inf]
    assert norms[3] == pytest.approx(math.sqrt(3) * 1e308)


def test_ordinary_updates_and_zeros_are_left_alone():
    for rows in (honest_updates(4, 9), torch.zeros(2, 3), torch.zeros(2, 0)):
        assert scaling(*norms_and_peaks(rows)) == 0
    assert scaling(*norms_and_peaks(torch.full((2, 3), 1e38))) == 0


@settings(deadline=None)
@given(st.floats(1e-300, 1e300))
def test_unit_vectors_have_length_one_at_every_size(scale):
    vector = honest_updates(1, 5)[0]
    torch.testing.assert_close(unit(vector * scale), vector / vector.norm(), rtol=1e-12, atol=0)
    assert torch.equal(unit(vector * 0), vector * 0)
