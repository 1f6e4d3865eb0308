"""A round is the paper's algorithm, recomputed worker by worker in float64."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from tests.training import plain
from wola.aggregation import Krum
from wola.attacks import PoisonedFL
from wola.training import Round, Scenario, assemble
from wola.training.streams import stream

NORMALISED = "tests.models.factories:normalised_convnet"


def taken(scenario, steps):
    federation = assemble(scenario)
    training = Round(scenario, federation)
    start = copy.deepcopy(training.model.module)
    records = [training.take(step) for step in range(1, steps + 1)]
    return training, federation, start, records


@pytest.mark.parametrize("strategy", ["-", "NNM", "WoLA", "WoLA+NNM"])
@pytest.mark.parametrize("model", ["mlp", "tests.models.factories:Wrapped"])
def test_rounds_are_the_papers_algorithm(strategy, model):
    scenario = Scenario.paper(
        "digits", strategy=strategy, model=model, seed=3, schedule="harmonic(period=3)"
    )
    training, federation, start, records = taken(scenario, 5)
    weights = torch.ones(11, 10).double()
    if strategy.startswith("WoLA"):
        counts = federation.counts[:11].double()
        p, q = counts / counts.sum(1, keepdim=True), counts.sum(0) / counts.sum()
        weights = torch.where(p > 0, q / p, 0)
    theta, history = plain.train(
        scenario,
        federation,
        start,
        weights,
        steps=5,
        mix=plain.nnm if strategy.endswith("NNM") else None,
    )
    np.testing.assert_allclose(training.model.parameters.numpy(), theta, rtol=1e-3, atol=1e-5)
    for record, momenta in zip(records, history, strict=True):
        away = ((momenta - momenta.mean(0)) ** 2).sum(1).mean()
        assert record.dissimilarity_momenta == pytest.approx(away, rel=1e-3)
    np.testing.assert_allclose(training.momenta[:11].numpy(), history[-1], rtol=1e-3, atol=1e-5)


def test_label_flippers_send_momenta_of_their_own():
    scenario = Scenario.paper("digits", strategy="WoLA", attack="lf")
    training, federation, start, _ = taken(scenario, 1)
    model, worker = start.double(), 14
    chosen = plain.batch_of(federation.shards[worker], 128, 1, worker, 1)
    flipped = 9 - federation.dataset.y_train[chosen]
    own = torch.bincount(9 - federation.dataset.y_train[federation.shards[worker]], minlength=10)
    weights = federation.q * own.sum() / own.clamp(min=1)
    parts = plain.gradient(
        model, federation.inputs[chosen].double(), flipped, weights, l2=1e-4, clip=5.0
    )
    expected = 0.1 * torch.cat([part.flatten() for part in parts])
    torch.testing.assert_close(training.momenta[worker], expected.float(), rtol=1e-3, atol=1e-6)


PARTIAL = "fang-trim(sample=false, knowledge=partial)"


def test_attackers_with_partial_knowledge_make_what_they_send_from_momenta_of_their_own():
    scenario = Scenario(attack=PARTIAL, aggregator="mean")
    training, federation, _, _ = taken(scenario, 1)
    assert federation.computing == 17
    honest, *_ = taken(scenario.changed(attack="none"), 1)
    # In the first round all momenta are those of honest training.
    assert torch.equal(training.momenta, honest.momenta)
    own = honest.momenta[11:].double().numpy()
    mean, std = own.mean(0), own.std(0)
    crafted = mean - 3 * np.sign(mean) * std
    sent = np.concatenate([honest.momenta[:11].double().numpy(), np.tile(crafted, (6, 1))])
    start = Round(scenario, federation).model.parameters.double().numpy()
    expected = start - scenario.learning_rate(1) * sent.mean(0)
    np.testing.assert_allclose(training.model.parameters.numpy(), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("participants", [17, 11])
def test_momenta_of_attackers_with_partial_knowledge_stay_honest(participants):
    scenario = Scenario(attack=PARTIAL, participants=participants, aggregator="mean", lr=1e-9)
    training, *_ = taken(scenario, 4)
    honest, *_ = taken(scenario.changed(attack="none"), 4)
    # The model hardly moves, so that the gradients are those of honest training.
    torch.testing.assert_close(training.momenta, honest.momenta, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("server", ["sgd", "momentum", "adam"])
def test_attackers_see_how_the_model_moves(server):
    scenario = Scenario(attack="poisoned-fl", server=server, schedule="harmonic(period=2)")
    federation = assemble(scenario)
    training = Round(scenario, federation)
    for step in (1, 2, 3):
        before = training.model.parameters.clone()
        record = training.take(step)
        state = training.attack.state_dict()
        assert torch.equal(state["movement"], training.model.parameters - before)
        assert state["rate"] == record.lr
        assert state["observed"] == step
    assert training.statistics_attack.state_dict()["observed"] == 0


def test_a_round_that_is_skipped_is_no_movement():
    scenario = Scenario(attack="poisoned-fl", workers=5, byzantine=1, aggregator="multi-krum(m=4)")
    training = Round(scenario, assemble(scenario))
    training.momenta[:4] = float("inf")
    assert training.take(1).skipped
    assert training.attack.state_dict()["movement"] is None


def test_poisoned_fl_sends_what_it_would_in_a_loop_of_ones_own():
    scenario = Scenario(attack="poisoned-fl(period=2)", aggregator="mean")
    training, federation, _, _ = taken(scenario, 3)
    again = Round(scenario, federation)
    run = PoisonedFL(period=2).fresh()
    for step in (1, 2, 3):
        before = again.model.parameters.clone()
        again.take(step)
        honest = again.momenta[:11]
        sent = run(honest, 6, generator=stream(scenario.seed, "attack", step))
        assert torch.equal(sent, again.momenta[11:])
        run.observe(again.model.parameters - before, scenario.learning_rate(step))
    assert torch.equal(again.model.parameters, training.model.parameters)


def test_attack_none_lets_everyone_train():
    training, *_ = taken(Scenario(attack="none"), 1)
    assert len({tuple(row) for row in training.momenta.tolist()}) == 17


def test_weights_are_recorded_where_the_rule_has_them():
    training, _, _, records = taken(Scenario(aggregator="krum", attack="none"), 2)
    assert sorted(records[1].weights) == [0.0] * 16 + [1.0]
    chosen = records[1].weights.index(1.0)
    assert Krum().weights(training.momenta, 6)[chosen] == 1
    assert taken(Scenario(), 1)[3][0].weights is None


def test_broken_attackers_are_named_and_change_nothing():
    _, _, _, records = taken(Scenario(attack="nan"), 2)
    assert records[1].dropped == tuple(f"byzantine-{i}" for i in range(11, 17))
    assert not records[1].skipped
    honest = Scenario(attack="nan", workers=11, byzantine=0, aggregator="mean")
    training, *_ = taken(Scenario(attack="nan", aggregator="mean"), 2)
    # Six of six attackers dropped: n = 11, f = 0, so the mean is that of the honest alone.
    alone, *_ = taken(honest, 2)
    torch.testing.assert_close(training.model.parameters, alone.model.parameters)


def test_a_round_with_too_few_finite_updates_is_skipped_and_the_model_kept():
    scenario = Scenario(attack="nan", workers=5, byzantine=1, aggregator="trimmed-mean")
    training = Round(scenario, assemble(scenario))
    training.momenta[:4] = float("inf")
    before = training.model.parameters.clone()
    record = training.take(1)
    assert record.skipped
    assert record.cosine is None
    assert torch.equal(training.model.parameters, before)


def test_running_statistics_are_the_median_of_all_workers():
    scenario = Scenario(model=NORMALISED, attack="lf", workers=7, byzantine=3, batch=32)
    federation = assemble(scenario)
    training = Round(scenario, federation)
    convolution = copy.deepcopy(training.model.module[0])
    training.take(1)
    blocks = []
    for worker in range(7):
        chosen = plain.batch_of(federation.shards[worker], 32, 1, worker, 1)
        made = convolution(federation.inputs[chosen]).transpose(0, 1).flatten(1).detach()
        blocks.append(torch.cat([0.1 * made.mean(1), 0.9 + 0.1 * made.var(1)]).numpy())
    expected = np.median(np.stack(blocks), axis=0)
    np.testing.assert_allclose(training.model.statistics.numpy(), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("attack", ["infinite", "nan", "scaled-sf", "gaussian"])
def test_byzantine_workers_cannot_carry_the_statistics_off(attack):
    scenario = Scenario(model=NORMALISED, attack=attack, workers=7, byzantine=3, batch=32)
    training, *_ = taken(scenario, 3)
    honest, *_ = taken(scenario.changed(attack="none"), 3)
    variances = training.model.statistics[3:]
    assert bool(variances.isfinite().all())
    assert bool((training.model.statistics - honest.model.statistics).abs().max() < 1)


def test_statistics_of_which_none_is_finite_change_nothing():
    training, *_ = taken(Scenario(model=NORMALISED, attack="none", batch=16), 1)
    before = training.model.statistics.clone()
    training.share_statistics(torch.full((17, 6), float("nan")), 11, 17, 2)
    assert torch.equal(training.model.statistics, before)


def test_c_of_n_workers_take_part_and_the_others_keep_their_momenta():
    scenario = Scenario(participants=8, aggregator="median")
    training = Round(scenario, assemble(scenario))
    present, computing, honest = training.participants(1)
    assert len(present) == 8
    assert present == sorted(set(present))
    assert computing == [worker for worker in present if worker < 11]
    assert honest == len(computing)
    training.take(1)
    moved = training.momenta.any(1).nonzero().flatten().tolist()
    assert moved == computing
    assert {tuple(training.participants(step)[0]) for step in range(1, 20)} != {tuple(present)}


def test_all_workers_taking_part_is_the_same_as_no_limit():
    limited, *_ = taken(Scenario(participants=17), 2)
    free, *_ = taken(Scenario(), 2)
    assert torch.equal(limited.model.parameters, free.model.parameters)


@pytest.mark.parametrize("participants", [1, 2, 3, 5])
def test_rounds_in_which_attackers_are_the_majority_go_on(participants):
    scenario = Scenario(
        participants=participants, aggregator="mean", workers=5, byzantine=2, attack="alie"
    )
    training, _, _, records = taken(scenario, 30)
    assert bool(training.model.parameters.isfinite().all())
    assert len(records) == 30


def test_one_local_step_is_the_gradient_and_more_are_a_difference():
    one, *_ = taken(Scenario(local_steps=1), 1)
    two, *_ = taken(Scenario(local_steps=2), 1)
    assert not torch.equal(one.momenta, two.momenta)


def test_the_learning_rate_follows_the_schedule():
    records = taken(Scenario(lr=1.0, schedule="harmonic(period=2)"), 4)[3]
    assert [record.lr for record in records] == [1.0, 0.5, 0.5, 1 / 3]


def test_the_state_of_a_stateful_attack_and_server_comes_back():
    scenario = Scenario(attack="mimic-variance", server="adam", model=NORMALISED, batch=16)
    whole, federation, _, _ = taken(scenario, 4)
    first = Round(scenario, federation)
    for step in (1, 2):
        first.take(step)
    second = Round(scenario, federation)
    second.load_state_dict(first.state_dict())
    for step in (3, 4):
        second.take(step)
    assert torch.equal(second.model.parameters, whole.model.parameters)
    assert torch.equal(second.model.statistics, whole.model.statistics)


def test_flat_order_does_not_matter_to_the_saved_model():
    training, *_ = taken(Scenario(model=NORMALISED, batch=16), 2)
    fresh = copy.deepcopy(training.model.module)
    for p in fresh.parameters():
        nn.init.zeros_(p)
    fresh.load_state_dict(training.model.state_dict())
    inputs = training.federation.test.inputs
    torch.testing.assert_close(fresh.eval()(inputs), training.model.module.eval()(inputs))
