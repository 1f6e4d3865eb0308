import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference_attacks as reference
from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.attacks import FOE, ScaledSignFlip, SignFlip


@settings(max_examples=30, deadline=None)
@given(settings_drawn, st.floats(-10, 10))
def test_foe_and_sign_flip_are_multiples_of_the_mean(drawn, eps):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    values = as_float64(honest)
    for attack, expected in [
        (FOE(), reference.foe(values)),
        (FOE(epsilon=eps), reference.foe(values, eps)),
        (SignFlip(), reference.sign_flip(values)),
        (ScaledSignFlip(abs(eps)), reference.foe(values, abs(eps))),
    ]:
        np.testing.assert_allclose(attack(honest, f)[-1].numpy(), expected, rtol=1e-9, atol=1e-12)


def test_a_scaled_flip_turns_the_plain_mean_around():
    honest = honest_updates(5, 8)
    everyone = torch.cat([honest, ScaledSignFlip(3.0)(honest, 2)])
    assert everyone.mean(0) @ honest.mean(0) < 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FOE(float("nan")), "epsilon = nan; allowed: a finite number"),
        (lambda: ScaledSignFlip(float("inf")), "scale = inf; allowed: a finite number >= 0"),
        (lambda: ScaledSignFlip(-1.0), r"scale = -1\.0; allowed: a finite number >= 0"),
    ],
)
def test_a_wrong_factor_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("make", [lambda: FOE("x"), lambda: ScaledSignFlip(None)])
def test_a_factor_that_is_no_number_is_refused(make):
    with pytest.raises(TypeError, match="allowed: a finite number"):
        make()
