"""The server in a run: its data are its own, its rows those of a worker, and it resumes."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from wola.data import load
from wola.training import Scenario, ScenarioError, simulate
from wola.training.federation import assemble, server_indices
from wola.training.round import Round

BASE = Scenario(
    dataset="digits",
    inputs="scaled",
    aggregator="fltrust",
    server_data="equal(samples=50)",
    attack="sf",
    byzantine=4,
    steps=6,
    evaluate_every=3,
    batch=16,
)
#: One batch of everything, so that the gradients can be computed by hand.
PLAIN = BASE.changed(batch=50, clip=0.0, l2=0.0, beta=0.0, server_data="equal(samples=50)")


def test_nobody_else_holds_what_the_server_holds():
    dataset = load("digits")
    held = set(server_indices(BASE, dataset).tolist())
    federation = assemble(BASE)
    assert len(held) == 50
    for shard in federation.shards:
        assert not held & set(shard.tolist())
    assert federation.server is not None
    assert torch.bincount(federation.server.labels).tolist() == [5] * 10


def test_without_server_data_the_shards_are_what_they_were():
    alone = BASE.changed(aggregator="mean", server_data="none")
    assert assemble(alone).server is None
    assert alone.key() == Scenario(**alone.model_dump(exclude={"server_data"})).key()


def test_all_strategies_of_a_grid_lose_the_same_samples():
    one, other = BASE, BASE.changed(aggregator="trimmed-mean", loss="wola", byzantine=2)
    dataset = load("digits")
    assert torch.equal(server_indices(one, dataset), server_indices(other, dataset))


def gradient_by_hand(round_, inputs, labels):
    logits = round_.model.module(inputs)
    row = torch.empty(round_.model.size)
    round_.model.store_gradients(F.cross_entropy(logits, labels), row)
    return row


def test_the_servers_rows_are_gradients_on_its_data():
    federation = assemble(PLAIN)
    data = federation.server
    round_ = Round(PLAIN, federation)
    round_.reference.advance(1, 0.1)
    by_hand = gradient_by_hand(round_, data.inputs, data.labels)
    assert torch.allclose(round_.reference.mean()[0], by_hand, atol=1e-6)
    assert torch.allclose(round_.reference.gradient(torch.zeros(1)), by_hand, atol=1e-6)

    boba = PLAIN.changed(aggregator="boba")
    round_ = Round(boba, assemble(boba))
    round_.reference.advance(1, 0.1)
    for c in range(10):
        chosen = data.labels == c
        by_hand = gradient_by_hand(round_, data.inputs[chosen], data.labels[chosen])
        assert torch.allclose(round_.reference.classes()[c], by_hand, atol=1e-6)


def test_the_servers_rows_have_momentum_as_the_workers_have():
    scenario = PLAIN.changed(beta=0.8)
    round_ = Round(scenario, assemble(scenario))
    data = round_.federation.server
    by_hand = gradient_by_hand(round_, data.inputs, data.labels)
    for _ in range(3):
        round_.reference.advance(1, 0.1)
    assert torch.allclose(round_.reference.mean()[0], (1 - 0.8**3) * by_hand, atol=1e-6)


def test_the_weighted_loss_weighs_the_servers_samples_too():
    scenario = PLAIN.changed(loss="wola", server_data="skewed(samples=50)")
    round_ = Round(scenario, assemble(scenario))
    data, q = round_.federation.server, round_.federation.q
    p = torch.bincount(data.labels, minlength=10).double() / 50
    weights = (q / p)[data.labels]
    logits = round_.model.module(data.inputs)
    terms = F.cross_entropy(logits.double(), data.labels, reduction="none")
    row = torch.empty(round_.model.size)
    round_.model.store_gradients((weights * terms).mean(), row)
    round_.reference.advance(1, 0.1)
    assert torch.allclose(round_.reference.mean()[0], row, atol=1e-5)


def test_the_logits_of_classes_that_the_server_lacks_are_multiplied_as_a_workers_are():
    scenario = PLAIN.changed(loss="fedrs(alpha=0.2)", server_data="skewed(samples=10)", batch=10)
    round_ = Round(scenario, assemble(scenario))
    data, start = round_.federation.server, torch.zeros(1)
    lacking = torch.bincount(data.labels, minlength=10) == 0
    assert lacking.any()
    logits = round_.model.module(data.inputs) * torch.where(lacking, 0.2, 1.0)
    loss = F.cross_entropy(logits, data.labels)
    row = torch.empty(round_.model.size)
    round_.model.store_gradients(loss, row)
    round_.reference.advance(1, 0.1)
    assert torch.allclose(round_.reference.mean()[0], row, atol=1e-6)
    assert torch.allclose(round_.reference.gradient(start), row, atol=1e-6)


def test_losses_and_errors_are_measured_where_a_step_would_lead():
    round_ = Round(PLAIN, assemble(PLAIN))
    data, start = round_.federation.server, round_.model.parameters.clone()
    steps = [torch.zeros_like(start), torch.randn(len(start), generator=torch.Generator())]
    found = round_.reference.measure(iter(steps))
    assert torch.equal(round_.model.parameters, start)
    for (loss, error), step in zip(found, steps, strict=True):
        round_.model.load(start - round_.reference.lr * step)
        logits = round_.model.module(data.inputs).detach()
        np.testing.assert_allclose(loss, float(F.cross_entropy(logits, data.labels)), rtol=1e-5)
        assert error == pytest.approx(float((logits.argmax(1) != data.labels).float().mean()))
    round_.model.load(start)


@pytest.mark.parametrize(
    "aggregator", ["fltrust", "zeno-plus-plus", "boba", "zeno", "lfr", "bygars"]
)
@pytest.mark.parametrize("participants", [None, 15])
def test_a_run_that_is_taken_up_again_ends_in_the_same_bits(aggregator, participants):
    scenario = BASE.changed(aggregator=aggregator, participants=participants, mixing="nnm")
    federation = assemble(scenario)
    whole, broken = Round(scenario, federation), Round(scenario, federation)
    for step in range(1, 4):
        whole.take(step)
        broken.take(step)
    later = Round(scenario, federation)
    later.load_state_dict(broken.state_dict())
    for step in range(4, 7):
        whole.take(step)
        later.take(step)
    assert torch.equal(whole.model.parameters, later.model.parameters)


@pytest.mark.parametrize("aggregator", ["fltrust", "boba"])
@pytest.mark.parametrize("attack", ["none", "sf", "optimal-foe"])
def test_a_run_that_diverges_is_carried_on_and_its_rounds_skipped(aggregator, attack):
    fields = {"lr": 1e30, "clip": 0.0, "schedule": "constant"}
    result = simulate(BASE.changed(aggregator=aggregator, attack=attack, **fields))
    assert [step.skipped for step in result.steps][-1]
    assert not result.steps[0].skipped


@pytest.mark.parametrize("value", [torch.nan, torch.inf, 1e38])
def test_rows_are_not_finite_where_their_norm_is_not(value):
    round_ = Round(PLAIN, assemble(PLAIN))
    round_.reference.advance(1, 0.1)
    assert round_.reference.finite
    round_.reference.memory["mean"].fill_(value)
    assert not round_.reference.finite


def test_the_server_makes_no_difference_to_a_rule_that_does_not_ask_it():
    scenario = BASE.changed(aggregator="trimmed-mean")
    assert Round(scenario, assemble(scenario)).reference is None


def test_trust_in_the_server_withstands_sign_flips():
    fields = {"steps": 60, "batch": 32, "byzantine": 8, "evaluate_every": 20}
    trusting = simulate(BASE.changed(**fields)).final_accuracy
    plain = simulate(BASE.changed(aggregator="mean", **fields)).final_accuracy
    assert trusting > plain + 20


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"server_data": "none"}, "aggregator = 'fltrust' needs data of the server's own; allowed"),
        ({"server_data": "equal(samples=0)"}, "samples = 0"),
        ({"server_data": "equals"}, "equal"),
    ],
)
def test_a_scenario_that_cannot_be_says_what_to_set(fields, message):
    with pytest.raises(ScenarioError, match=message):
        BASE.changed(**fields)


def test_classes_that_the_server_lacks_are_named():
    scenario = BASE.changed(aggregator="boba", server_data="skewed(samples=4, bias=0.5)")
    with pytest.raises(ScenarioError, match="no sample of class 3, 4, 5, 6, 7, 8, 9; allowed"):
        simulate(scenario)


def test_more_classes_than_workers_are_refused_before_the_first_round():
    scenario = BASE.changed(aggregator="boba", byzantine=8)
    with pytest.raises(ScenarioError, match=r"C = 10 classes needs .* f = 8 leaves 9"):
        simulate(scenario)
