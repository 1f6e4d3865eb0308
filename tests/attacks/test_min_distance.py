import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference_attacks as reference
from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.attacks import MinMax, MinSum

DIRECTIONS = st.sampled_from(["std", "unit", "sign"])


@settings(max_examples=40, deadline=None)
@given(settings_drawn, DIRECTIONS)
def test_both_attacks_reach_as_far_as_a_bisection_finds(drawn, direction):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    values = as_float64(honest)
    for attack, expected in [
        (MinMax(direction), reference.min_max(values, direction)),
        (MinSum(direction), reference.min_sum(values, direction)),
    ]:
        row = attack(honest, f)[0].numpy()
        np.testing.assert_allclose(row, expected, rtol=1e-7, atol=1e-7)


@settings(max_examples=25, deadline=None)
@given(settings_drawn)
def test_no_honest_worker_is_farther_than_the_honest_diameter(drawn):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    row = MinMax()(honest, f)
    diameter = torch.cdist(honest, honest).max()
    assert torch.cdist(row, honest).max() <= diameter * (1 + 1e-9)


@settings(max_examples=20, deadline=None)
@given(settings_drawn, st.floats(-100, 100), st.floats(0.01, 100))
def test_along_std_both_move_and_scale_with_the_updates(drawn, shift, scale):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    for attack in (MinMax(), MinSum()):
        moved = attack(scale * honest + shift, f)
        torch.testing.assert_close(moved, scale * attack(honest, f) + shift, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("attack", [MinMax(), MinSum(), MinMax("unit"), MinSum("sign")], ids=str)
def test_identical_updates_are_answered_with_themselves(attack):
    honest = torch.tensor([[1.0, -2.0]]).repeat(4, 1)
    torch.testing.assert_close(attack(honest, 1), honest[:1])


@pytest.mark.parametrize("direction", ["unit", "sign"])
def test_a_zero_mean_gives_no_direction(direction):
    honest = torch.tensor([[1.0, 2.0], [-1.0, -2.0]])
    assert torch.equal(MinMax(direction)(honest, 1), torch.zeros(1, 2))


def test_many_blocks_of_columns_are_one_vector():
    honest = honest_updates(5, 20_000)
    expected = reference.min_max(as_float64(honest), "std")
    np.testing.assert_allclose(MinMax()(honest, 2)[0].numpy(), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("make", [MinMax, MinSum])
def test_a_wrong_direction_is_named(make):
    with pytest.raises(ValueError, match="direction = 'up'; allowed: std, unit, sign"):
        make(direction="up")
