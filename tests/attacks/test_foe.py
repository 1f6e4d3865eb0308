"""Fall of empires."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference_attacks as reference
from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.attacks import FOE


@settings(max_examples=30, deadline=None)
@given(settings_drawn, st.floats(-10, 10))
def test_it_is_minus_epsilon_times_the_mean(drawn, eps):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    values = as_float64(honest)
    np.testing.assert_allclose(
        FOE(epsilon=eps)(honest, f)[-1].numpy(), reference.foe(values, eps), rtol=1e-9, atol=1e-12
    )


def test_epsilon_is_a_tenth_unless_said():
    assert FOE() == FOE(epsilon=0.1)


def test_a_wrong_factor_is_named():
    with pytest.raises(ValueError, match="epsilon = nan; allowed: a finite number"):
        FOE(float("nan"))


def test_a_factor_that_is_no_number_is_refused():
    with pytest.raises(TypeError, match="epsilon = 'x' is a str; allowed: a finite number"):
        FOE("x")
