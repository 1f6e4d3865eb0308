"""Min-max."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference_attacks as reference
from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.attacks import MinMax


@settings(max_examples=40, deadline=None)
@given(settings_drawn, st.sampled_from(["std", "unit", "sign"]))
def test_it_reaches_as_far_as_a_bisection_finds(drawn, direction):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    row = MinMax(direction)(honest, f)[0].numpy()
    expected = reference.min_max(as_float64(honest), direction)
    np.testing.assert_allclose(row, expected, rtol=1e-7, atol=1e-7)


@settings(max_examples=25, deadline=None)
@given(settings_drawn)
def test_no_honest_worker_is_farther_than_the_honest_diameter(drawn):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    row = MinMax()(honest, f)
    diameter = torch.cdist(honest, honest).max()
    assert torch.cdist(row, honest).max() <= diameter * (1 + 1e-9)


def test_many_blocks_of_columns_are_one_vector():
    honest = honest_updates(5, 20_000)
    expected = reference.min_max(as_float64(honest), "std")
    np.testing.assert_allclose(MinMax()(honest, 2)[0].numpy(), expected, rtol=1e-7, atol=1e-7)
