"""Min-sum."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference_attacks as reference
from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.attacks import MinSum


@settings(max_examples=40, deadline=None)
@given(settings_drawn, st.sampled_from(["std", "unit", "sign"]))
def test_it_reaches_as_far_as_a_bisection_finds(drawn, direction):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    row = MinSum(direction)(honest, f)[0].numpy()
    expected = reference.min_sum(as_float64(honest), direction)
    np.testing.assert_allclose(row, expected, rtol=1e-7, atol=1e-7)


def test_its_squared_distances_add_up_to_those_of_the_farthest_honest_worker():
    honest = honest_updates(7, 5)
    largest = torch.cdist(honest, honest).square().sum(1).max()
    reached = torch.cdist(MinSum()(honest, 2)[:1], honest).square().sum()
    torch.testing.assert_close(reached, largest)
