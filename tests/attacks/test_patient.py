"""An attack that begins after rounds of looking honest."""

import pytest
import torch

from tests.attacks.sample import generator, honest_updates
from wola.aggregation import TrimmedMean
from wola.attacks import (
    ALIE,
    Beyond,
    FangKrum,
    LabelFlip,
    MimicStatic,
    Patient,
    PoisonedFL,
    SignFlip,
    SpanSearch,
    WorstOf,
)


def test_it_copies_the_first_worker_for_so_many_rounds_and_then_attacks():
    run = Patient(rounds=3, attack=SignFlip()).fresh()
    for seed in range(6):
        honest = honest_updates(5, 4, seed)
        expected = (MimicStatic() if seed < 3 else SignFlip())(honest, 2)
        assert torch.equal(run(honest, 2), expected)


def test_the_attack_that_follows_is_a_span_search_unless_another_is_named():
    honest, rule = honest_updates(6, 8), TrimmedMean()
    sent = Patient(rounds=0)(honest, 2, rule, generator())
    assert torch.equal(sent, SpanSearch()(honest, 2, rule, generator()))


def test_a_copy_goes_on_from_what_was_saved_in_either_part():
    attack = Patient(rounds=3, attack=Beyond(angle=10))
    run = attack.fresh()
    for seed in range(7):
        again = attack.fresh()
        again.load_state_dict(run.state_dict())
        honest = honest_updates(6, 8, seed)
        assert torch.equal(run(honest, 2), again(honest, 2))
        assert run.state_dict() == again.state_dict()
    assert run.state_dict()["round"] == 7
    assert run.state_dict()["attack"]["worker"] is not None


def test_the_attack_that_follows_sees_the_steps_and_who_takes_part_from_the_start():
    run, alone = Patient(rounds=2, attack=PoisonedFL()).fresh(), PoisonedFL().fresh()
    honest, movement = honest_updates(4, 6), torch.linspace(-1, 1, 6)
    for _ in range(2):
        run(honest, 1, generator=generator())
    for one in (run, alone):
        one.observe(movement, 0.1)
        one.observe(-2 * movement, 0.1)
    sent = run(honest, 1, generator=generator())
    assert torch.equal(sent, alone(honest, 1, generator=generator()))
    told = Patient(rounds=1, attack=WorstOf((Beyond(), SignFlip()))).fresh()
    told.meet([4, 5, 6])
    assert told.memory.running.memory.running[0].memory.present == (4, 5, 6)


def test_what_the_attack_that_follows_has_to_say_is_told():
    run = Patient(rounds=1, attack=WorstOf((SignFlip(),))).fresh()
    for _ in range(3):
        run(honest_updates(5, 4), 1, rule=TrimmedMean())
    assert run.ending() == "the worst of 1 attacks was SignFlip() 2 times"
    assert Patient(attack=ALIE()).note(6, 1) == ALIE().note(6, 1) is not None


def test_a_wrong_state_or_option_is_named():
    with pytest.raises(ValueError, match=r"state has keys \['a'\]; allowed: \['attack', 'round'\]"):
        Patient().fresh().load_state_dict({"a": 1})
    with pytest.raises(ValueError, match="rounds = -1; allowed: an int >= 0"):
        Patient(rounds=-1)
    with pytest.raises(ValueError, match="no label attack"):
        Patient(attack=LabelFlip())
    with pytest.raises(ValueError, match="an attack that knows the honest updates"):
        Patient(attack=FangKrum(knowledge="partial"))
