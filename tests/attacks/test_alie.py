import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference_attacks as reference
from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.attacks import ALIE, alie_factor


@pytest.mark.parametrize(("n", "f"), [(17, 2), (17, 4), (17, 6), (17, 8), (3, 1), (50, 24)])
def test_the_default_factor_is_the_normal_quantile(n, f):
    assert alie_factor(n, f) == pytest.approx(reference.alie_factor(n, f), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(settings_drawn)
def test_alie_is_mean_plus_z_std(drawn):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    expected = reference.alie(as_float64(honest), h + f, f)
    np.testing.assert_allclose(ALIE()(honest, f)[0].numpy(), expected, rtol=1e-8, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(settings_drawn, st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_alie_moves_and_scales_with_the_updates(drawn, shift, scale):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    moved = ALIE()(scale * honest + shift, f)
    torch.testing.assert_close(moved, scale * ALIE()(honest, f) + shift, rtol=1e-8, atol=1e-7)


def test_a_given_z_replaces_the_default():
    honest = torch.tensor([[1.0], [3.0]], dtype=torch.float64)
    assert ALIE(z=-2.0)(honest, 1).tolist() == [[0.0]]


def test_a_broken_honest_update_counts_among_n_but_not_in_the_moments():
    honest = honest_updates(6, 4)
    with_broken = torch.cat([honest, torch.full((1, 4), float("inf"), dtype=torch.float64)])
    expected = as_float64(honest).mean(0) + reference.alie_factor(9, 2) * as_float64(honest).std(0)
    np.testing.assert_allclose(ALIE()(with_broken, 2)[0].numpy(), expected)


@pytest.mark.parametrize(
    ("z", "error"), [(float("nan"), ValueError), (float("inf"), ValueError), ("1", TypeError)]
)
def test_a_wrong_z_is_named(z, error):
    with pytest.raises(error, match=r"z = .*allowed: a"):
        ALIE(z=z)
