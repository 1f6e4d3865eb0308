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


@pytest.mark.parametrize(
    ("n", "f"), [(17, 2), (17, 4), (17, 6), (17, 8), (3, 1), (10, 1), (50, 24)]
)
def test_the_factor_of_the_attacks_own_paper_is_a_quantile_of_the_honest(n, f):
    expected = reference.alie_factor_of_honest(n, f)
    assert alie_factor(n, f, quantile="honest") == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(settings_drawn)
def test_the_options_change_the_factor_and_the_deviation(drawn):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    values = as_float64(honest)
    for std, deviation in [
        ("population", reference.population_std),
        ("sample", reference.sample_std),
    ]:
        for quantile, factor in [
            ("all", reference.alie_factor),
            ("honest", reference.alie_factor_of_honest),
        ]:
            expected = reference.mean(values) + factor(h + f, f) * deviation(values)
            sent = ALIE(std=std, quantile=quantile)(honest, f)[0].numpy()
            np.testing.assert_allclose(sent, expected, rtol=1e-8, atol=1e-8)
        expected = reference.mean(values) + 0.7 * deviation(values)
        np.testing.assert_allclose(ALIE(z=0.7, std=std)(honest, f)[0].numpy(), expected, atol=1e-8)


def test_the_sample_deviation_of_one_update_is_zero():
    honest = honest_updates(3, 4)
    honest[:2] = float("nan")
    assert torch.equal(ALIE(std="sample")(honest, 1), honest[2:])


@pytest.mark.parametrize(
    ("attack", "n", "f", "said"),
    [
        (
            ALIE(),
            10,
            1,
            "ALIE(z=None, std='population', quantile='all'): with n = 10 and f = 1 the "
            "attackers' z is 0, so they send the honest mean",
        ),
        (ALIE(quantile="honest"), 10, 1, "z is -0.14, so they move the other way"),
        (ALIE(quantile="honest"), 17, 1, "z is 0, so they send the honest mean"),
        (ALIE(), 10, 2, None),
        (ALIE(), 17, 1, None),
        (ALIE(quantile="honest"), 17, 2, None),
        (ALIE(z=-1.0), 10, 1, None),
    ],
)
def test_a_factor_that_is_not_positive_is_noted_unless_it_was_asked_for(attack, n, f, said):
    note = attack.note(n, f)
    assert note is None if said is None else said in note


@pytest.mark.parametrize("options", [{"std": "both"}, {"quantile": "half"}])
def test_a_wrong_option_is_named(options):
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=f"{name} = '{value}'; allowed: "):
        ALIE(**options)


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
