"""The worst of several attacks, round by round."""

import numpy as np
import pytest
import torch

from tests.attacks.sample import generator, honest_updates
from tests.reference import mean, norm
from wola.aggregation import CoordinateMedian, Krum, MultiKrum, TrimmedMean
from wola.attacks import (
    ALIE,
    FOE,
    FangKrum,
    LabelFlip,
    Mimic,
    MimicVariance,
    NaN,
    SignFlip,
    WorstOf,
    Zero,
)
from wola.mixing import NNM
from wola.testing import check_attack
from wola.training import Scenario, simulate

SOME = (ALIE(), FOE(), SignFlip(), Mimic(), Zero())


def harm(goal, rule, honest, sent):
    """From the definition, in float64."""
    x, aggregate = honest.numpy(), rule(torch.cat([honest, sent]), len(sent)).numpy()
    return norm(aggregate - mean(x)) if goal == "distance" else -float(np.dot(aggregate, mean(x)))


@pytest.mark.parametrize("goal", ["distance", "ascent"])
@pytest.mark.parametrize("rule", [TrimmedMean(), Krum(), NNM() | MultiKrum()], ids=str)
def test_no_attack_of_the_list_hurts_more(goal, rule):
    for seed in range(5):
        honest = honest_updates(9, 30, seed)
        sent = WorstOf(SOME, goal)(honest, 3, rule=rule)
        harms = [harm(goal, rule, honest, attack(honest, 3)) for attack in SOME]
        assert harm(goal, rule, honest, sent) == max(harms)


def test_the_first_of_equals_is_sent_and_counted():
    run = WorstOf((FOE(epsilon=1.0), SignFlip())).fresh()
    for _ in range(3):
        run(honest_updates(5, 8), 2, rule=TrimmedMean())
    assert run.counts == (3, 0)
    assert run.ending() == "the worst of 2 attacks was FOE(epsilon=1.0) 3 times"


def test_updates_that_the_server_drops_hurt_least_where_the_round_goes_on():
    honest = honest_updates(7, 12)
    sent = WorstOf((NaN(), SignFlip()))(honest, 3, rule=CoordinateMedian())
    assert torch.equal(sent, SignFlip()(honest, 3))


def test_attacks_that_remember_see_every_round_and_a_copy_goes_on_from_what_was_saved():
    attack = WorstOf((SignFlip(), MimicVariance(warmup=2)))
    run, alone = attack.fresh(), MimicVariance(warmup=2).fresh()
    for seed in range(3):
        run(honest_updates(6, 10, seed), 2, rule=TrimmedMean())
        alone(honest_updates(6, 10, seed), 2)
    state = run.state_dict()
    assert state["attacks"][1]["round"] == 3
    assert torch.equal(state["attacks"][1]["mean"], alone.state_dict()["mean"])
    again = attack.fresh()
    again.load_state_dict(state)
    for seed in range(3, 6):
        honest = honest_updates(6, 10, seed)
        first, second = (one(honest, 2, rule=TrimmedMean()) for one in (run, again))
        assert torch.equal(first, second)
    assert again.counts == run.counts
    assert sum(again.counts) == 6


def test_a_wrong_state_or_option_is_named():
    run = WorstOf(SOME).fresh()
    with pytest.raises(ValueError, match=r"state has keys \['a'\]"):
        run.load_state_dict({"a": 1})
    with pytest.raises(ValueError, match="state is of 1 attacks; allowed: of 5"):
        run.load_state_dict({"attacks": [{}], "counts": [1]})
    with pytest.raises(ValueError, match=r"attacks = \(\); allowed: a tuple"):
        WorstOf(())
    with pytest.raises(ValueError, match="no label attacks"):
        WorstOf((LabelFlip(),))
    with pytest.raises(ValueError, match="attacks that know the honest updates"):
        WorstOf((SignFlip(), FangKrum(knowledge="partial")))
    with pytest.raises(ValueError, match="goal"):
        WorstOf(SOME, "worst")
    with pytest.raises(ValueError, match="rule is None"):
        run(honest_updates(5, 4), 1)


def test_the_generator_stays_where_it_was():
    given = generator(3)
    state = given.get_state()
    WorstOf(SOME)(honest_updates(6, 5), 2, rule=TrimmedMean(), generator=given)
    assert torch.equal(given.get_state(), state)


def test_the_battery_holds():
    check_attack(WorstOf(SOME), scale=True)


def test_a_run_tells_how_often_it_chose_which():
    scenario = Scenario(dataset="iris", steps=6, attack="worst-of(attacks=(foe, sf))")
    notes = simulate(scenario).summary()["notes"]
    assert any(note.startswith("the worst of 2 attacks was ") for note in notes)
