"""What the attacks hidden in the honest spread share."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.sample import honest_updates, settings_drawn
from wola.attacks import MinMax, MinSum


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


@pytest.mark.parametrize("make", [MinMax, MinSum])
def test_a_wrong_direction_is_named(make):
    with pytest.raises(ValueError, match="direction = 'up'; allowed: std, unit, sign"):
        make(direction="up")
