"""Updates beyond one honest worker."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.attacks import Beyond
from wola.testing import check_attack
from wola.training import Scenario
from wola.training.federation import assemble
from wola.training.round import Round


def angle_between(a, b):
    return np.degrees(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1)))


def farthest(x):
    return int(np.argmax(np.linalg.norm(x - x.mean(0), axis=1)))


@settings(max_examples=40, deadline=None)
@given(settings_drawn.filter(lambda drawn: drawn[0] > 2 and drawn[2] > 2), st.floats(0, 180))
def test_it_lies_the_angle_past_the_farthest_worker_in_the_plane_of_the_mean(drawn, angle):
    h, f, d, seed = drawn
    honest = honest_updates(h, d, seed)
    x = as_float64(honest)
    worker, mean = x[farthest(x)], x.mean(0)
    sent = as_float64(Beyond(angle)(honest, f)[0])
    assert np.linalg.norm(sent) == pytest.approx(np.linalg.norm(worker))
    assert angle_between(sent, worker) == pytest.approx(angle, abs=1e-4)
    past = angle_between(worker, mean) + angle
    assert angle_between(sent, mean) == pytest.approx(min(past, 360 - past), abs=1e-4)
    plane = np.linalg.qr(np.stack([worker, mean], axis=1))[0]
    np.testing.assert_allclose(plane @ (plane.T @ sent), sent, atol=1e-8 * np.linalg.norm(sent))


def test_it_follows_the_worker_of_the_first_round_and_a_copy_goes_on_from_what_was_saved():
    attack = Beyond(angle=0)
    run, first = attack.fresh(), honest_updates(6, 8)
    run(first, 2)
    chosen = farthest(as_float64(first))
    again = attack.fresh()
    again.load_state_dict(run.state_dict())
    assert run.state_dict() == {"worker": chosen}
    others = 0
    for seed in range(1, 6):
        honest = honest_updates(6, 8, seed)
        others += farthest(as_float64(honest)) != chosen
        for one in (run, again):
            torch.testing.assert_close(one(honest, 2)[0], honest[chosen])
    assert others
    torch.testing.assert_close(attack(first, 2)[0], first[chosen])


def test_workers_are_told_apart_by_number_and_for_an_absent_one_stands_the_farthest_present():
    run, honest = Beyond(angle=0).fresh(), honest_updates(4, 5)
    honest[2] *= 10
    run.meet([1, 4, 6, 7])
    run(honest, 1)
    assert run.state_dict() == {"worker": 6}
    run.meet([3, 6, 9])
    torch.testing.assert_close(run(honest[[2, 0, 1]], 1)[0], honest[0])
    run.meet([1, 4, 7])
    torch.testing.assert_close(run(honest[[0, 1, 2]], 1)[0], honest[2])
    run.meet([6, 7, 8])
    broken = honest[[0, 1, 2]]
    broken[0, 0] = float("nan")
    rest = as_float64(broken[1:])
    torch.testing.assert_close(run(broken, 1)[0], broken[1 + farthest(rest)])
    assert run.state_dict() == {"worker": 6}
    with pytest.raises(ValueError, match="honest has h = 4 updates; 3 workers were announced"):
        run(honest, 1)


def test_a_training_run_tells_who_takes_part():
    scenario = Scenario(dataset="iris", attack="beyond", participants=9, batch=8)
    training, met = Round(scenario, assemble(scenario)), []
    for step in range(1, 4):
        training.take(step)
        present, _, honest = training.participants(step)
        met.append(tuple(present[:honest]))
        assert training.attack.memory.present == met[-1]
        assert training.statistics_attack.memory.present == met[-1]
    assert len(set(met)) > 1
    assert training.attack.state_dict()["worker"] in met[0]


def test_without_a_plane_the_worker_itself_is_sent():
    for row in ([[1.0], [2.0], [6.0]], [[0.0, 0.0], [3.0, 3.0], [9.0, 9.0]], [[0.0], [0.0]]):
        honest = torch.tensor(row)
        assert torch.equal(Beyond(angle=90)(honest, 1)[0], honest[-1])


def test_a_wrong_state_or_option_is_named():
    with pytest.raises(ValueError, match=r"state has keys \['a'\]; allowed: \['worker'\]"):
        Beyond().fresh().load_state_dict({"a": 1})
    for angle in (-1.0, 181.0, float("nan")):
        with pytest.raises(ValueError, match=f"angle = {angle}; allowed: .* >= 0 and <= 180"):
            Beyond(angle)


def test_the_battery_holds():
    check_attack(Beyond())
    check_attack(Beyond(angle=120).fresh())
