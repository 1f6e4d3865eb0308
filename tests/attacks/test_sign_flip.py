"""Sign flipping."""

import numpy as np
from hypothesis import given, settings

from tests import reference_attacks as reference
from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.attacks import SignFlip


@settings(max_examples=30, deadline=None)
@given(settings_drawn)
def test_it_is_minus_the_mean(drawn):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    values = as_float64(honest)
    np.testing.assert_allclose(
        SignFlip()(honest, f)[-1].numpy(), reference.sign_flip(values), rtol=1e-9, atol=1e-12
    )
