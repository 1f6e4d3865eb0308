"""Sign flipping by a large factor."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference_attacks as reference
from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.attacks import ScaledSignFlip


@settings(max_examples=30, deadline=None)
@given(settings_drawn, st.floats(0, 10))
def test_it_is_minus_scale_times_the_mean(drawn, scale):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    values = as_float64(honest)
    np.testing.assert_allclose(
        ScaledSignFlip(scale)(honest, f)[-1].numpy(),
        reference.foe(values, scale),
        rtol=1e-9,
        atol=1e-12,
    )


def test_a_scaled_flip_turns_the_plain_mean_around():
    honest = honest_updates(5, 8)
    everyone = torch.cat([honest, ScaledSignFlip(3.0)(honest, 2)])
    assert everyone.mean(0) @ honest.mean(0) < 0


@pytest.mark.parametrize("scale", [float("inf"), -1.0])
def test_a_wrong_factor_is_named(scale):
    with pytest.raises(ValueError, match=f"scale = {scale}; allowed: a finite number >= 0"):
        ScaledSignFlip(scale)


def test_a_factor_that_is_no_number_is_refused():
    with pytest.raises(TypeError, match="scale = None is a NoneType; allowed: a finite number"):
        ScaledSignFlip(None)
