"""PoisonedFL: one direction in every round, as large as the model moves."""

import io
from fractions import Fraction
from math import comb, erfc, sqrt

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.sample import generator, honest_updates
from wola.aggregation import Mean
from wola.attacks import PoisonedFL, SignFlip, WorstOf
from wola.attacks.poisoned_fl import upper_tail
from wola.testing import check_attack


def rows_by_definition(movements, rates, signs, attack):
    """What is sent after each movement, from the formulas in float64 NumPy, and the last c."""
    c, last, since, sent = attack.scale, None, np.zeros(len(signs)), []
    for t, (m, lr) in enumerate(zip(movements, rates, strict=True), start=1):
        since = since + m
        if t % attack.period == 0:
            along = np.sign(since) * signs
            moved, agreeing = int((along != 0).sum()), int((along == 1).sum())
            tail = Fraction(sum(comb(moved, k) for k in range(agreeing, moved + 1)), 2**moved)
            if tail > 1 - attack.confidence and c * attack.decay >= attack.least:
                c *= attack.decay
            since = np.zeros(len(signs))
        length = np.linalg.norm(m)
        residual = np.abs(m if last is None else m - length * last * signs / np.linalg.norm(last))
        last = residual / np.linalg.norm(residual)
        sent.append(-c * length / lr * last * signs)
    return sent, c


def run_through(run, movements, rates):
    honest, draw, sent = honest_updates(5, movements.shape[1]), generator(4), []
    run(honest, 2, generator=draw)
    for movement, lr in zip(movements, rates, strict=True):
        run.observe(torch.from_numpy(movement), lr)
        sent.append(run(honest, 2, generator=draw)[0].numpy())
    return sent


def movements_drawn(rounds, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rounds, d)), rng.uniform(0.01, 1.0, rounds)


@settings(max_examples=25, deadline=None)
@given(
    rounds=st.integers(1, 12),
    d=st.integers(2, 30),
    period=st.integers(1, 4),
    seed=st.integers(0, 999),
)
def test_what_is_sent_is_that_of_the_formulas(rounds, d, period, seed):
    attack = PoisonedFL(period=period, least=2.0, confidence=0.9)
    movements, rates = movements_drawn(rounds, d, seed)
    run = attack.fresh()
    sent = run_through(run, movements, rates)
    signs = run.state_dict()["signs"].numpy()
    expected, c = rows_by_definition(movements, rates, signs, attack)
    np.testing.assert_allclose(sent, expected, rtol=1e-9, atol=1e-12)
    assert run.state_dict()["scale"] == c


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_tail_is_that_of_fair_coins(n):
    for k in range(n + 1):
        exact = Fraction(sum(comb(n, heads) for heads in range(k, n + 1)), 2**n)
        assert upper_tail(n, k) == pytest.approx(float(exact), rel=1e-12)
    assert upper_tail(n, n + 1) == 0.0
    assert upper_tail(0, 0) == 1.0


def test_the_tail_of_a_large_network_is_nearly_normal():
    n = 431_080
    for z in (-1.0, 0.0, 1.0, 2.326):
        k = round(n / 2 + z * sqrt(n) / 2)
        normal = erfc((k - 0.5 - n / 2) / (sqrt(n) / 2) / sqrt(2)) / 2
        assert upper_tail(n, k) == pytest.approx(normal, rel=1e-4)


def test_the_scale_stays_while_the_model_follows_and_falls_while_it_does_not():
    run, honest = PoisonedFL(period=3).fresh(), honest_updates(4, 60)
    run(honest, 1, generator=generator())
    signs = run.state_dict()["signs"].double()
    for _ in range(12):
        run.observe(0.1 * signs, 0.1)
    assert run.state_dict()["scale"] == 10.0
    scales = []
    for _ in range(30):
        for _ in range(3):
            run.observe(-0.1 * signs, 0.1)
        scales.append(run.state_dict()["scale"])
    falling = [10.0 * 0.7**k for k in range(1, 9)]
    np.testing.assert_allclose(scales[:8], falling)
    # 0.7 of the last one would be 0.40, below the least of 0.5.
    assert scales[8:] == [scales[7]] * 22


def test_against_the_mean_the_model_moves_along_the_signs():
    run, theta, draw, lr = (
        PoisonedFL(scale=2.0).fresh(),
        torch.zeros(200).double(),
        generator(),
        0.1,
    )
    honest = torch.zeros(200).double()
    for seed in range(30):
        honest = honest_updates(7, 200, seed)
        update = Mean()(torch.cat([honest, run(honest, 3, generator=draw)]), 3)
        theta -= lr * update
        run.observe(-lr * update, lr)
    agreeing = float((theta.sign() == run.state_dict()["signs"]).double().mean())
    assert agreeing > 0.95


def test_the_size_is_that_of_the_last_movement_in_units_of_an_update():
    run, honest = PoisonedFL(scale=3.0).fresh(), honest_updates(5, 40)
    run(honest, 2, generator=generator())
    for scale in (1e-250, 1.0, 1e250):
        run.observe(scale * honest[0], 0.5)
        sent = run(honest, 2)
        wanted = 3.0 * float(honest[0].norm()) / 0.5
        assert float((sent[0] / scale).norm()) == pytest.approx(wanted, rel=1e-9)


def test_a_movement_along_what_was_sent_alone_is_met_with_its_own_size():
    run, honest = PoisonedFL(scale=1.0).fresh(), honest_updates(3, 1)
    run(honest, 1, generator=generator())
    sign = run.state_dict()["signs"].double()
    for _ in range(3):
        run.observe(0.25 * sign, 0.5)
        assert torch.equal(run(honest, 1)[0], -0.5 * sign)


def test_a_model_that_stands_still_is_met_with_zeros():
    run, honest = PoisonedFL(period=1).fresh(), honest_updates(3, 4)
    run(honest, 1, generator=generator())
    run.observe(torch.zeros(4), 0.1)
    assert torch.equal(run(honest, 1), torch.zeros(1, 4).double())
    run.observe(honest[0], 0.1)
    assert bool(run(honest, 1).any())


def test_a_movement_that_is_not_finite_is_not_looked_at():
    run, honest = PoisonedFL().fresh(), honest_updates(3, 4)
    run(honest, 1, generator=generator())
    run.observe(honest[0], 0.1)
    before = run.state_dict()
    run.observe(torch.full((4,), float("nan")), 0.1)
    assert torch.equal(run.state_dict()["movement"], before["movement"])
    assert run.state_dict()["observed"] == 1


def test_a_caller_that_changes_its_tensor_later_changes_nothing():
    run, honest, movement = PoisonedFL().fresh(), honest_updates(3, 4), torch.ones(4)
    run(honest, 1, generator=generator())
    run.observe(movement, 0.1)
    movement.zero_()
    assert bool(run(honest, 1).any())


def test_the_value_itself_remembers_nothing_and_two_runs_share_nothing():
    attack, honest = PoisonedFL(), honest_updates(4, 5)
    attack.observe(honest[0], 0.1)
    assert not attack(honest, 1, generator=generator()).any()
    one, two = attack.fresh(), attack.fresh()
    one(honest, 1, generator=generator())
    assert two.state_dict()["signs"] is None


@pytest.mark.parametrize("stop", [0, 1, 5])
def test_a_saved_run_goes_on_bit_for_bit(stop):
    movements, rates = movements_drawn(9, 12)
    honest = honest_updates(5, 12)
    whole, first = (PoisonedFL(period=2).fresh() for _ in range(2))
    file = io.BytesIO()
    for movement, lr in zip(movements[:stop], rates, strict=False):
        for run in (whole, first):
            run(honest, 2, generator=generator())
            run.observe(torch.from_numpy(movement), lr)
    torch.save(first.state_dict(), file)
    file.seek(0)
    second = PoisonedFL(period=2).fresh()
    second.load_state_dict(torch.load(file, weights_only=True))
    for movement, lr in zip(movements[stop:], rates[stop:], strict=True):
        sent = [run(honest, 2, generator=generator()) for run in (whole, second)]
        assert torch.equal(*sent)
        for run in (whole, second):
            run.observe(torch.from_numpy(movement), lr)
    assert whole.state_dict()["scale"] == second.state_dict()["scale"] < 10.0


def test_as_one_of_several_it_sees_every_step():
    run, alone = WorstOf((SignFlip(), PoisonedFL())).fresh(), PoisonedFL().fresh()
    honest = honest_updates(5, 6)
    run(honest, 2, rule=Mean(), generator=generator())
    alone(honest, 2, generator=generator())
    for one in (run, alone):
        one.observe(honest[1], 0.2)
    state = run.state_dict()["attacks"][1]
    assert torch.equal(state["movement"], honest[1])
    sent = run(honest, 2, rule=Mean(), generator=generator())
    assert torch.equal(sent, alone(honest, 2))
    assert run.counts == (1, 1)


def test_what_is_missing_or_wrong_is_named():
    run, honest = PoisonedFL().fresh(), honest_updates(3, 4)
    with pytest.raises(ValueError, match="generator is None"):
        run(honest, 1)
    run(honest, 1, generator=generator())
    with pytest.raises(ValueError, match="d = 3 coordinates; earlier rounds had 4"):
        run(honest[:, :3], 1)
    with pytest.raises(ValueError, match=r"movement has shape \(3,\); allowed: \(4,\)"):
        run.observe(torch.ones(3), 0.1)
    with pytest.raises(ValueError, match="lr = 0"):
        run.observe(torch.ones(4), 0.0)
    with pytest.raises(ValueError, match=r"keys \['turn'\]; allowed: \['last', 'movement'"):
        run.load_state_dict({"turn": 1})


@pytest.mark.parametrize(
    "options",
    [{"scale": 0}, {"decay": 1}, {"least": -1}, {"period": 0}, {"confidence": 1}],
    ids=str,
)
def test_a_wrong_option_is_named(options):
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=f"{name} = {value}; allowed"):
        PoisonedFL(**options)


def test_the_battery_holds_also_in_the_course_of_a_run():
    check_attack(PoisonedFL().fresh())
