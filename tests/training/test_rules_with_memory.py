"""What a rule remembers in a run: it resumes, passes over what is skipped, and knows no order."""

import pytest
import torch

from tests.training.test_checkpoint import Starts, broken_off
from wola.aggregation.soft_set_hull import pair_name
from wola.training import Checkpoint, Scenario, simulate
from wola.training.federation import assemble
from wola.training.round import Round

BASE = Scenario(
    dataset="digits",
    inputs="scaled",
    server_data="equal(samples=50)",
    attack="sf",
    byzantine=4,
    steps=10,
    evaluate_every=5,
    batch=16,
)
RULES = [
    "bygars-plus-plus(alpha=0.3, length=server)",
    "foolsgold",
    "centered-clipping(tau=0.05, history=true)",
    "soft-set-hull",
]
EVERY_RULE = pytest.mark.parametrize("aggregator", RULES)


def taken(scenario, steps):
    training = Round(scenario, assemble(scenario))
    return training, [training.take(step) for step in range(1, steps + 1)]


@EVERY_RULE
@pytest.mark.parametrize(
    "changes",
    [{}, {"participants": 13}, {"mixing": "nnm", "attack": "optimal-alie(evaluations=5)"}],
    ids=str,
)
def test_five_rounds_and_five_more_after_a_file_are_ten(tmp_path, aggregator, changes):
    scenario = BASE.changed(aggregator=aggregator, **changes)
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=5)
    broken_off(scenario, checkpoint, 7)
    started = Starts()
    resumed = simulate(scenario, checkpoint=checkpoint, resume=True, callbacks=[started])
    assert started.step == 5
    assert resumed.digest() == simulate(scenario).digest()


@EVERY_RULE
def test_the_memory_makes_a_difference_and_is_what_is_saved(aggregator):
    scenario = BASE.changed(aggregator=aggregator, attack="mimic", byzantine=8)
    training, _ = taken(scenario, 4)
    state = training.state_dict()
    assert state["kept"]
    again, forgetful = (Round(scenario, training.federation) for _ in range(2))
    again.load_state_dict(state)
    forgetful.load_state_dict({**state, "kept": {}})
    for one in (training, again, forgetful):
        one.take(5)
    assert torch.equal(training.model.parameters, again.model.parameters)
    assert not torch.equal(training.model.parameters, forgetful.model.parameters)


def test_each_worker_is_remembered_by_its_own_number_whatever_the_order():
    scenario = BASE.changed(aggregator="foolsgold", attack="none", participants=13, beta=0.0)
    training = Round(scenario, assemble(scenario))
    sums = torch.zeros(17, training.model.size)
    for step in range(1, 5):
        present = training.participants(step)[0]
        training.take(step)
        sums[present] += training.momenta[present]
    assert len(training.kept) > 13
    for worker, kept in training.kept.items():
        torch.testing.assert_close(kept, sums[worker])


@EVERY_RULE
def test_a_round_that_is_skipped_keeps_the_old_memory(aggregator):
    scenario = BASE.changed(aggregator=aggregator, beta=0.9)
    training, _ = taken(scenario, 2)
    before, kept = training.model.parameters.clone(), training.kept
    training.momenta[:13] = float("inf")
    training.attack = None
    training.momenta[13:] = float("nan")
    record = training.take(3)
    assert record.skipped
    assert training.kept is kept
    assert torch.equal(training.model.parameters, before)


@EVERY_RULE
def test_a_worker_that_sends_nothing_finite_is_remembered_as_it_was(aggregator):
    scenario = BASE.changed(aggregator=aggregator, attack="nan")
    training, records = taken(scenario, 3)
    assert all(len(record.dropped) == 4 for record in records)
    assert bool(training.model.parameters.isfinite().all())
    names = set(training.kept)
    pairs = {pair_name(i, j) for i in range(13) for j in range(13)}
    kept = {"centered-clipping(tau=0.05, history=true)": {"aggregate"}, "soft-set-hull": pairs}
    assert names == kept.get(aggregator, set(range(13)))


@EVERY_RULE
@pytest.mark.parametrize("participants", [None, 13])
def test_the_order_of_the_workers_changes_nothing_but_rounding(aggregator, participants):
    scenario = BASE.changed(aggregator=aggregator, participants=participants)
    runs = [
        taken(scenario.changed(order=order), 4)[0]
        for order in ("shuffled", "byzantine-first", "byzantine-last")
    ]
    for other in runs[1:]:
        first = runs[0].model.parameters
        torch.testing.assert_close(other.model.parameters, first, rtol=1e-4, atol=1e-5)
        assert other.kept.keys() == runs[0].kept.keys()
        for name, value in other.kept.items():
            torch.testing.assert_close(value, runs[0].kept[name], rtol=1e-3, atol=1e-4)


@EVERY_RULE
@pytest.mark.parametrize(
    "attack", ["optimal-foe(evaluations=5)", "fang-krum", "worst-of(attacks=(sf, optimal-alie))"]
)
def test_attacks_that_look_at_the_rule_meet_it_with_its_memory(aggregator, attack):
    result = simulate(BASE.changed(aggregator=aggregator, attack=attack, steps=4))
    assert result.ending is None or "diverged" not in result.ending
    assert all(bool(value.isfinite().all()) for value in result.state.values())


@pytest.mark.parametrize("aggregator", [*RULES[:2], "soft-set-hull"])
def test_bucketing_before_a_memory_of_workers_is_refused(aggregator):
    with pytest.raises(ValueError, match=r"mixtures of .* workers are nobody's; allowed: mixings"):
        BASE.changed(aggregator=aggregator, mixing="bucketing")


@EVERY_RULE
@pytest.mark.parametrize("outer", ["lfr", "err", "gas"])
def test_inside_another_rule_it_is_refused(aggregator, outer):
    with pytest.raises(ValueError, match="allowed: a rule that needs no server data and keeps no"):
        BASE.changed(aggregator=f"{outer}(rule={aggregator})")


def test_weights_learned_on_the_server_withstand_sign_flips():
    fields = {"steps": 60, "batch": 32, "byzantine": 8, "evaluate_every": 20}
    learned = BASE.changed(
        aggregator="bygars-plus-plus(alpha=0.05, unit=true, length=server)", **fields
    )
    plain = simulate(BASE.changed(aggregator="mean", **fields)).final_accuracy
    assert simulate(learned).final_accuracy > plain + 20


def test_sets_that_agree_withstand_a_minority_that_sends_the_opposite():
    fields = {"steps": 60, "batch": 32, "byzantine": 8, "evaluate_every": 20, "loss": "wola-shift"}
    plain = simulate(BASE.changed(aggregator="mean", **fields)).final_accuracy
    assert simulate(BASE.changed(aggregator="soft-set-hull", **fields)).final_accuracy > plain + 20
