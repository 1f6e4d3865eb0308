import io

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.sample import as_float64, honest_updates
from wola.attacks import MimicVariance


def rounds(count, h=6, d=7, seed=0):
    return [honest_updates(h, d, seed + t) for t in range(count)]


def workers_by_definition(history, warmup):
    """The worker mimicked in each round, from the formulas in float64 NumPy."""
    mean = direction = worker = None
    chosen = []
    for t, honest in enumerate(map(as_float64, history)):
        if t < warmup:
            average = honest.mean(0)
            if t == 0:
                mean = average
                direction = np.linalg.svd(honest - mean)[2][0]
                along = (honest - mean) @ direction
                direction = direction * np.sign(along[np.abs(along).argmax()])
            else:
                mean = t / (1 + t) * mean + average / (1 + t)
                away = honest - mean
                pull = sum((row @ direction) * row for row in away)
                direction = t / (1 + t) * direction + pull / np.linalg.norm(pull) / (1 + t)
                direction = direction / np.linalg.norm(direction)
            worker = int(np.argmax(honest @ direction))
        chosen.append(worker)
    return chosen


def workers_mimicked(run, history):
    rows = [run(honest, 2)[0] for honest in history]
    return [
        int((honest == row).all(1).nonzero()[0]) for honest, row in zip(history, rows, strict=True)
    ]


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 9), st.integers(1, 15), st.integers(1, 6), st.integers(0, 10_000))
def test_the_workers_mimicked_are_those_of_the_formulas(h, d, warmup, seed):
    history = rounds(warmup + 2, h, d, seed)
    run = MimicVariance(warmup=warmup).fresh()
    assert workers_mimicked(run, history) == workers_by_definition(history, warmup)


def test_after_the_warm_up_the_worker_stays():
    chosen = workers_mimicked(MimicVariance(warmup=2).fresh(), rounds(8))
    assert len(set(chosen[1:])) == 1


def test_a_worker_that_always_differs_is_found():
    history = rounds(6)
    for honest in history:
        honest[4] += 10.0
    assert workers_mimicked(MimicVariance(warmup=6).fresh(), history) == [4] * 6


def test_the_value_itself_remembers_nothing():
    attack = MimicVariance(warmup=2)
    first, second = rounds(2)
    attack(first, 2)
    assert torch.equal(attack(second, 2), MimicVariance(warmup=2).fresh()(second, 2))


def test_two_runs_of_one_value_share_nothing():
    attack = MimicVariance()
    one, two = attack.fresh(), attack.fresh()
    one(rounds(1)[0], 2)
    assert one.state_dict()["round"] == 1
    assert two.state_dict()["round"] == 0


@pytest.mark.parametrize("stop", [0, 1, 3, 5])
def test_a_saved_run_goes_on_bit_for_bit(stop):
    history = rounds(8)
    whole = MimicVariance(warmup=4).fresh()
    first = MimicVariance(warmup=4).fresh()
    for honest in history[:stop]:
        whole(honest, 2)
        first(honest, 2)
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second = MimicVariance(warmup=4).fresh()
    second.load_state_dict(torch.load(file, weights_only=True))
    for honest in history[stop:]:
        assert torch.equal(second(honest, 2), whole(honest, 2))
    left, right = whole.state_dict(), second.state_dict()
    assert left["round"] == right["round"]
    assert left["worker"] == right["worker"]
    assert torch.equal(left["mean"], right["mean"])
    assert torch.equal(left["direction"], right["direction"])


def test_a_saved_state_does_not_move_with_the_run():
    run = MimicVariance().fresh()
    first, second = rounds(2)
    run(first, 2)
    state = run.state_dict()
    kept = state["mean"].clone()
    other = MimicVariance().fresh()
    other.load_state_dict(state)
    run(second, 2)
    other(second, 2)
    assert torch.equal(state["mean"], kept)


def test_a_worker_broken_after_the_warm_up_is_replaced_for_that_round():
    history = rounds(3)
    run = MimicVariance(warmup=1).fresh()
    worker = workers_mimicked(run, history[:1])[0]
    broken = history[1].clone()
    broken[worker] = float("nan")
    assert torch.isfinite(run(broken, 2)).all()
    assert workers_mimicked(run, history[2:]) == [worker]


def test_a_round_without_a_whole_update_is_not_counted():
    run = MimicVariance().fresh()
    assert torch.equal(run(torch.full((3, 2), float("nan")), 1), torch.zeros(1, 2))
    assert run.state_dict()["round"] == 0


def test_updates_that_do_not_vary_are_mimicked_by_the_first():
    run = MimicVariance(warmup=3).fresh()
    for _ in range(3):
        assert torch.equal(run(torch.ones(4, 3), 1), torch.ones(1, 3))
    assert run.state_dict()["worker"] == 0


def test_another_number_of_coordinates_or_workers_is_named():
    run = MimicVariance(warmup=1).fresh()
    honest = honest_updates(5, 4)
    honest[4] += 10.0
    run(honest, 2)
    with pytest.raises(ValueError, match="d = 3 coordinates; earlier rounds had 4"):
        run(honest[:, :3], 2)
    with pytest.raises(ValueError, match="h = 3 workers; worker 4 of them is mimicked"):
        run(honest[:3], 2)


def test_a_state_with_other_keys_is_named():
    with pytest.raises(ValueError, match=r"keys \['turn'\]; allowed: \['direction', 'mean'"):
        MimicVariance().fresh().load_state_dict({"turn": 1})


@pytest.mark.parametrize(("warmup", "error"), [(0, ValueError), (-1, ValueError), (2.0, TypeError)])
def test_a_wrong_warm_up_is_named(warmup, error):
    with pytest.raises(error, match=f"warmup = {warmup}.*; allowed: an int >= 1"):
        MimicVariance(warmup=warmup)
