"""Updates at an angle to the direction that the server trusts."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.sample import as_float64, generator, honest_updates, settings_drawn
from wola.aggregation import (
    CoordinateMedian,
    FLTrust,
    Krum,
    Mean,
    MultiKrum,
    ReferenceRows,
    TrimmedMean,
    View,
    ZenoPlusPlus,
)
from wola.attacks import Tilt
from wola.attacks.tilt import Turn
from wola.mixing import NNM
from wola.testing import check_attack
from wola.training import AGGREGATORS


def tilted(honest, angle, server=None):
    """The update at an angle, from the definition in float64."""
    mean = honest.mean(0)
    g = mean if server is None else server
    g = g / np.linalg.norm(g)
    away = -mean if server is not None else -np.sign(mean) * honest.std(0)
    u = away - (away @ g) * g
    u = u / np.linalg.norm(u)
    turn = np.deg2rad(angle)
    return np.linalg.norm(mean) * (np.cos(turn) * g + np.sin(turn) * u)


def trusting(kind, row, lr=0.1):
    return kind().at(View(ReferenceRows(mean=row, lr=lr)))


def moved(rule, honest, sent):
    aggregate = rule(torch.cat([honest, sent]), len(sent), generator())
    return float((aggregate - honest.mean(0)).norm())


@settings(max_examples=40, deadline=None)
@given(settings_drawn.filter(lambda drawn: drawn[2] > 2), st.floats(-179, 179))
def test_what_is_sent_is_that_of_the_definition(drawn, angle):
    h, f, d, seed = drawn
    honest, server = honest_updates(h, d, seed), honest_updates(1, d, seed + 1)[0]
    plain = Tilt(angle=angle)(honest, f)
    expected = tilted(as_float64(honest), angle)
    np.testing.assert_allclose(plain[0].numpy(), expected, rtol=1e-7, atol=1e-9)
    bound = Tilt(angle=angle)(honest, f, rule=trusting(FLTrust, server))
    expected = tilted(as_float64(honest), angle, as_float64(server))
    np.testing.assert_allclose(bound[0].numpy(), expected, rtol=1e-7, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(settings_drawn.filter(lambda drawn: drawn[2] > 2), st.floats(-179, 179))
def test_it_is_as_long_as_the_mean_and_stands_at_the_angle_to_what_is_trusted(drawn, angle):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    for server in (None, honest_updates(1, d, seed + 1)[0]):
        rule = None if server is None else trusting(FLTrust, server)
        row = Tilt(angle=angle)(honest, f, rule=rule)[0]
        trusted = honest.mean(0) if server is None else server
        assert float(row.norm()) == pytest.approx(float(honest.mean(0).norm()), rel=1e-9)
        cosine = float(row @ trusted / row.norm() / trusted.norm())
        assert cosine == pytest.approx(np.cos(np.deg2rad(angle)), abs=1e-9)


def test_a_half_line_is_all_angles():
    turn = Turn()
    angles = [turn.factor(u) for u in (0.0, 1e-9, 1.0, 4.0, 2.0**20)]
    assert angles == sorted(angles)
    assert angles[0] == 0.0
    assert angles[2] == pytest.approx(90.0)
    assert 179.999 < angles[-1] < 180.0
    for angle in (-170.0, -3.0, 0.5, 50.0, 179.0):
        assert turn.factor(turn.place(angle)) == pytest.approx(angle)


def at_a_cosine(f, cosine=0.6, d=2000):
    """Honest updates of length 2 with one cosine to the server's, which has length 1."""
    server = torch.zeros(d).double()
    server[0] = 1.0
    others = honest_updates(17 - f, d, seed=f)
    others = others - others.mean(0)
    others[:, 0] = 0.0
    others = others / others.norm(dim=1, keepdim=True)
    return 2 * (cosine * server + (1 - cosine**2) ** 0.5 * others), server


@pytest.mark.parametrize(("f", "push"), [(2, 0.10), (4, 0.19), (6, 0.28), (8, 0.38)])
def test_fltrust_is_pushed_sideways_most_at_about_fifty_degrees(f, push):
    honest, server = at_a_cosine(f)
    rule = trusting(FLTrust, server)
    pushes = {}
    for angle in range(30, 80):
        sent = Tilt(angle=angle)(honest, f, rule=rule)
        aside = sent[0] - (sent[0] @ server) * server
        pushes[angle] = float(rule(torch.cat([honest, sent]), f) @ aside / aside.norm())
        turn, trust = np.deg2rad(angle), 0.6 * (17 - f)
        expected = f * np.sin(turn) * np.cos(turn) / (trust + f * np.cos(turn))
        assert pushes[angle] == pytest.approx(expected, abs=0.03)
    best = max(pushes, key=lambda angle: pushes[angle])
    assert 45 <= best <= 56
    assert pushes[best] == pytest.approx(push, abs=0.03)


@pytest.mark.parametrize("f", [2, 4, 6, 8])
@pytest.mark.parametrize("kind", [FLTrust, ZenoPlusPlus])
def test_the_search_comes_near_the_best_angle_and_never_turns_the_server_around(kind, f):
    honest, server = at_a_cosine(f, d=200)
    rule = trusting(kind, server)
    sent = Tilt()(honest, f, rule=rule)
    best = max(
        moved(rule, honest, Tilt(angle=angle)(honest, f, rule=rule)) for angle in range(-179, 180)
    )
    assert moved(rule, honest, sent) >= 0.95 * best
    assert float(rule(torch.cat([honest, sent]), f) @ server) >= 0.0


@pytest.mark.parametrize("rule", [TrimmedMean(), CoordinateMedian(), NNM() | MultiKrum(), Krum()])
@pytest.mark.parametrize("start", [None, -120.0, 10.0])
def test_it_is_never_weaker_than_its_start(rule, start):
    honest = honest_updates(11, 40)
    sent = Tilt(evaluations=7, start=start)(honest, 4, rule=rule)
    first = Tilt(angle=50.0 if start is None else start)(honest, 4)
    assert moved(rule, honest, sent) >= moved(rule, honest, first) - 1e-9


@pytest.mark.parametrize("name", sorted(AGGREGATORS))
def test_any_rule_can_be_attacked(name):
    classes = honest_updates(3, 12, seed=8)

    class Known(ReferenceRows):
        def measure(self, steps, *, samples=None, generator=None):
            return np.array([[float(step.square().sum()), 0.0] for step in steps])

        def gradient(self, step):
            return step

    view = View(
        Known(mean=classes.mean(0), classes=classes, lr=0.1), labels=torch.eye(3).repeat(3, 1)[:8]
    )
    honest, rule = honest_updates(7, 12), AGGREGATORS[name]().at(view)
    sent = Tilt(evaluations=4)(honest, 1, rule=rule, generator=generator())
    assert bool(sent.isfinite().all())
    assert float(sent[0].norm()) == pytest.approx(float(honest.mean(0).norm()), rel=1e-9)


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**-300, 2.0**300, 2.0**900], ids="{:.0e}".format)
@pytest.mark.parametrize("kind", [FLTrust, ZenoPlusPlus])
def test_the_server_is_judged_at_the_scale_of_the_updates(kind, scale):
    honest, server = at_a_cosine(6, d=100)
    expected = Tilt()(honest, 6, rule=trusting(kind, server))
    sent = Tilt()(honest * scale, 6, rule=trusting(kind, server * scale))
    assert torch.equal(sent, expected * scale)


@pytest.mark.parametrize("scale", [1e-300, 3e-120, 7e80, 1e300], ids=str)
def test_a_fixed_angle_knows_no_scale(scale):
    honest = honest_updates(7, 6)
    sent = Tilt(angle=70.0)(honest * scale, 3) / scale
    torch.testing.assert_close(sent, Tilt(angle=70.0)(honest, 3), rtol=1e-9, atol=0)


def test_updates_that_the_server_drops_are_left_out_of_what_it_knows():
    honest, server = at_a_cosine(6, d=50)
    broken = torch.cat([honest[:4], torch.full((1, 50), float("nan")).double(), honest[4:]])
    view = View(ReferenceRows(mean=server, lr=0.1), workers=tuple("abcdefghijklmnopqr"))
    sent = Tilt()(broken, 6, rule=FLTrust().at(view))
    assert torch.equal(sent, Tilt()(honest, 6, rule=trusting(FLTrust, server)))


@pytest.mark.parametrize("server", ["zero", "broken", "parallel"])
def test_a_server_without_a_direction_of_its_own_leaves_the_mean(server):
    honest = honest_updates(7, 9)
    rows = {
        "zero": torch.zeros(9).double(),
        "broken": torch.full((9,), float("nan")).double(),
        "parallel": 3 * honest.mean(0),
    }
    sent = Tilt(angle=40.0)(honest, 2, rule=trusting(FLTrust, rows[server]))
    torch.testing.assert_close(sent, Tilt(angle=40.0)(honest, 2), rtol=1e-9, atol=1e-12)


def test_without_a_second_direction_the_sine_counts_for_nothing():
    honest = torch.tensor([[1.0], [3.0]]).double()
    torch.testing.assert_close(Tilt(angle=60.0)(honest, 1), torch.tensor([[1.0]]).double())
    assert torch.equal(Tilt(angle=60.0)(honest - 2, 1), torch.zeros(1, 1).double())
    alike = honest_updates(1, 5).repeat(4, 1)
    torch.testing.assert_close(Tilt(angle=60.0)(alike, 1)[0], alike[0] / 2)


def test_what_is_missing_or_wrong_is_named():
    with pytest.raises(ValueError, match=r"rule is None; allowed: a Rule"):
        Tilt()(honest_updates(3, 2), 1)
    for name in ("angle", "start"):
        for value in (180.0, -180.0, float("nan")):
            with pytest.raises(ValueError, match=f"{name} = {value}; allowed: .* > -180 and < 180"):
                Tilt(**{name: value})
    with pytest.raises(ValueError, match="evaluations = 0"):
        Tilt(evaluations=0)


def test_the_battery_holds_with_a_server_that_trusts_a_direction():
    check_attack(Tilt(evaluations=6), rule=Mean())
    check_attack(Tilt(angle=50.0), rule=NNM() | TrimmedMean())
