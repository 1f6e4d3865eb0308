"""The strategy as Flower's users see it: start, results, records, and the five methods."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord
from flwr.serverapp.strategy import Strategy
from torch import nn

from tests.flower.federations import (
    NODES,
    JoinedLater,
    accuracy,
    state_of,
    tiny_clients,
    tiny_model,
    tiny_strategy,
)
from tests.flower.own_loss import ConstantWeight
from wola.aggregation import Mean, MultiKrum
from wola.flower import LoopbackGrid, Recipe, RoundRecord
from wola.flower.global_model import GlobalModel
from wola.flower.reply_checks import Update
from wola.labels import Prior, Shared, Uniform
from wola.mixing import NNM
from wola.training import CheckpointError


def test_a_run_learns_and_its_records_say_how(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    strategy = tiny_strategy(objective=Shared(), rule=MultiKrum(), records=path)
    result = strategy.start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=8)
    assert accuracy(result.arrays) > 0.9
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["query"] + ["train"] * 8
    last = lines[-1]
    assert last["replied"] == NODES
    assert sum(last["weights"].values()) == pytest.approx(1.0)
    assert last["dissimilarity"] > 0
    assert last["norm"] > 0
    assert last["bytes_out"] > 5 * 4 * 15
    assert last["bytes_in"] > 5 * 4 * 15
    assert set(last["seconds"]) == {"collect", "rule"}
    assert result.train_metrics_clientapp[8]["replied"] == 5
    assert result.train_metrics_clientapp[8]["norm"] == last["norm"]


def test_a_loss_that_clients_do_not_have_is_the_reason_why_they_refuse(tmp_path: Path) -> None:
    recipe = Recipe(loss=ConstantWeight(), batch=16)
    strategy = tiny_strategy(recipe=recipe)
    strategy.start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=1)
    assert list(strategy.records[0].refused) == NODES
    for reason in strategy.records[0].refused.values():
        assert reason.startswith("refused: loss = 'tests.flower.own_loss:ConstantWeight'; allowed")
        assert reason.endswith("yours: wola_client(loss=...)")
    strategy = tiny_strategy(recipe=recipe)
    apps = tiny_clients(tmp_path, loss=lambda worker: ConstantWeight())
    strategy.start(LoopbackGrid(apps), num_rounds=1)
    assert strategy.records[0].replied == tuple(NODES)


def test_rule_and_objective_as_texts_train_the_same_model_as_objects(tmp_path: Path) -> None:
    made = [
        tiny_strategy(rule=rule, objective=objective)
        .start(LoopbackGrid(tiny_clients(tmp_path / str(i))), num_rounds=2)
        .arrays
        for i, (rule, objective) in enumerate(
            [(NNM() | MultiKrum(), Shared()), ("nnm+multi-krum", "shared")]
        )
    ]
    assert torch.equal(state_of(made[0]), state_of(made[1]))


def test_the_model_given_is_not_changed_and_every_start_is_a_new_run(tmp_path: Path) -> None:
    model = tiny_model()
    strategy = tiny_strategy()
    first = strategy.start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=3)
    lineage = strategy.run.exchange.run
    second = strategy.start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=3)
    assert torch.equal(state_of(first.arrays), state_of(second.arrays))
    assert strategy.run.exchange.run != lineage
    assert len(strategy.records) == 3
    assert all(bool((p == 0).all()) for p in model.parameters())


def test_the_server_evaluates_before_the_first_round_and_after_each(tmp_path: Path) -> None:
    seen = []

    def evaluate(number: int, arrays: ArrayRecord) -> MetricRecord | None:
        seen.append(number)
        return MetricRecord({"accuracy": 100 * accuracy(arrays)}) if number != 2 else None

    strategy = tiny_strategy()
    result = strategy.start(
        LoopbackGrid(tiny_clients(tmp_path)), num_rounds=3, evaluate_fn=evaluate
    )
    assert seen == [0, 1, 2, 3]
    assert list(result.evaluate_metrics_serverapp) == [0, 1, 3]
    found = [record.accuracy for record in strategy.records]
    assert found[1] is None
    assert found[2] == result.evaluate_metrics_serverapp[3]["accuracy"]


def test_the_clients_evaluate_if_asked_to(tmp_path: Path) -> None:
    strategy = tiny_strategy(evaluate="federated")
    result = strategy.start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=6)
    metrics = result.evaluate_metrics_clientapp[6]
    assert metrics["replied"] == 5
    assert metrics["accuracy"] > 80
    assert strategy.records[-1].accuracy == metrics["accuracy"]
    assert "evaluate" in strategy.records[-1].seconds


def test_a_state_to_start_from_is_taken_up_and_another_models_is_refused(tmp_path: Path) -> None:
    trained = tiny_strategy().start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=4)
    kept = tiny_strategy().start(LoopbackGrid([]), trained.arrays, num_rounds=0)
    assert torch.equal(state_of(kept.arrays), state_of(trained.arrays))
    with pytest.raises(ValueError, match="initial_arrays do not fit the model"):
        tiny_strategy().start(LoopbackGrid([]), ArrayRecord(nn.Linear(2, 2).state_dict()))


@pytest.mark.parametrize(
    ("objective", "q"),
    [(Uniform(), [1 / 3] * 3), (Prior([0.5, 0.25, 0.25]), [0.5, 0.25, 0.25])],
)
def test_a_known_objective_asks_nobody(objective: Any, q: list[float], tmp_path: Path) -> None:
    strategy = tiny_strategy(objective=objective)
    strategy.start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=1)
    assert strategy.run.q is not None
    assert strategy.run.q.tolist() == pytest.approx(q)
    assert [record.kind for record in strategy.records] == ["train"]


def test_a_timeout_takes_the_place_of_the_deadline() -> None:
    strategy = tiny_strategy(patience=0.01)
    strategy.start(LoopbackGrid([]), num_rounds=9, timeout=0.02)
    assert strategy.ending.startswith("3 rounds in a row without a step")
    with pytest.raises(ValueError, match="timeout = -1"):
        strategy.start(LoopbackGrid([]), timeout=-1)


def test_a_node_that_joins_later_takes_part(tmp_path: Path) -> None:
    apps = tiny_clients(tmp_path)

    strategy = tiny_strategy(objective=Shared(), min_nodes=4)
    strategy.start(JoinedLater(apps), num_rounds=2)
    assert [len(record.replied) for record in strategy.records] == [4, 4, 5]


def test_configuration_of_the_user_travels_with_the_messages(tmp_path: Path) -> None:
    seen = []
    (honest,) = tiny_clients(tmp_path, 1)

    def app(message: Message, context: Context) -> Message:
        seen.append(dict(message.content.config_records.get("config", {})))
        return honest(message, context)

    strategy = tiny_strategy(n=1, f=0, evaluate="federated")
    train, evaluate = ConfigRecord({"a": 1}), ConfigRecord({"b": 2})
    grid = LoopbackGrid([app])
    strategy.start(grid, num_rounds=1, train_config=train, evaluate_config=evaluate)
    assert seen == [{"a": 1}, {"b": 2}]


def test_a_finished_checkpoint_is_not_trained_further(tmp_path: Path) -> None:
    options = {"checkpoint": tmp_path / "server.pt"}
    done = tiny_strategy(**options).start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=2)
    strategy = tiny_strategy(**options)
    again = strategy.start(LoopbackGrid([]), num_rounds=2)
    assert strategy.ending == "finished"
    assert torch.equal(state_of(again.arrays), state_of(done.arrays))
    assert list(again.train_metrics_clientapp) == [1, 2]


@pytest.mark.parametrize(
    "other",
    [{"recipe": Recipe(lr=0.4, batch=16)}, {"federation": "b"}, {"objective": Shared()}],
    ids=["recipe", "federation", "objective"],
)
def test_the_checkpoint_of_another_training_is_refused(
    other: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "server.pt"
    tiny_strategy(checkpoint=path).start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=1)
    (name,) = other
    with pytest.raises(CheckpointError, match=f"another training: {name} = "):
        tiny_strategy(checkpoint=path, **other).start(LoopbackGrid([]))


def test_flowers_own_loop_over_the_five_methods_gives_the_same_model(tmp_path: Path) -> None:
    ours = tiny_strategy(objective=Shared())
    expected = ours.start(LoopbackGrid(tiny_clients(tmp_path / "a")), num_rounds=3)
    theirs = tiny_strategy(objective=Shared(), evaluate="federated")
    start = ArrayRecord(tiny_model().state_dict())
    grid = LoopbackGrid(tiny_clients(tmp_path / "b", liars={}))
    result = Strategy.start(theirs, grid, start, num_rounds=3)
    assert torch.equal(state_of(result.arrays), state_of(expected.arrays))
    assert result.train_metrics_clientapp[3]["replied"] == 5
    assert result.evaluate_metrics_clientapp[3]["replied"] == 5


def test_the_methods_alone_say_nothing_where_there_is_nothing_to_say(tmp_path: Path) -> None:
    strategy = tiny_strategy(objective=Shared(), deadline=0.02, empty_rounds=1)
    grid = LoopbackGrid([])
    assert strategy.configure_evaluate(1, ArrayRecord(), ConfigRecord(), grid) == []
    assert strategy.configure_train(1, ArrayRecord(), ConfigRecord(), grid) == []
    arrays, metrics = strategy.aggregate_train(1, [])
    assert arrays is None
    assert metrics is not None
    assert metrics["skipped"] == 1
    assert strategy.aggregate_evaluate(1, []) is None


def test_replies_that_nobody_asked_for_are_counted_and_left_alone(tmp_path: Path) -> None:
    strategy = tiny_strategy()
    grid = LoopbackGrid(tiny_clients(tmp_path))
    messages = list(strategy.configure_train(1, ArrayRecord(), ConfigRecord(), grid))
    replies = list(grid.send_and_receive(messages))
    strategy.aggregate_train(1, replies + replies)
    assert strategy.records[-1].surplus == 5
    assert strategy.records[-1].n == 5


def updates(*values: float, size: int = 15) -> list[Update]:
    return [Update(torch.full((size,), value), torch.zeros(0)) for value in values]


def test_a_step_that_would_not_be_finite_is_not_taken() -> None:
    model = GlobalModel(tiny_model(), Recipe(lr=1e6, server="momentum"))
    assert model.step(updates(1.0, 1.0, 1.0), 0, Mean(), 1).skipped is None
    before, memory = model.flat.parameters.clone(), model.server.state_dict()
    step = model.step(updates(1e36, 1e36, 1e36), 0, Mean(), 2)
    assert step.skipped == "the model would not be finite"
    assert torch.equal(model.flat.parameters, before)
    assert torch.equal(model.server.state_dict()["velocity"], memory["velocity"])


def test_a_rule_that_fails_leaves_the_model_as_it_is() -> None:
    class Failing(Mean):
        def aggregate(self, *arguments: Any) -> Any:
            raise RuntimeError("singular")

    model = GlobalModel(tiny_model(), Recipe())
    step = model.step(updates(1.0, 2.0), 0, Failing(), 1)
    assert step.skipped == "the rule failed: singular"
    assert step.dissimilarity == pytest.approx(15 / 4)
    assert bool((model.flat.parameters == 0).all())


def test_classes_of_the_objective_must_be_those_of_the_model() -> None:
    with pytest.raises(ValueError, match="3 classes, got 2 entries"):
        tiny_strategy(objective=Prior([0.5, 0.5]))


def test_a_run_that_one_silent_client_would_stop_warns_before_it_starts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("flwr"), "propagate", True)
    strategy = tiny_strategy(n=5, f=2)
    with caplog.at_level(logging.WARNING, logger="flwr.wola"):
        strategy.start(LoopbackGrid(tiny_clients(tmp_path)), num_rounds=2)
    assert caplog.text.count("one silent client empties every round") == 1
    first, second = strategy.records
    assert first.warning == strategy.settings.warning
    assert first.warning is not None
    assert second.warning is None
    assert RoundRecord.from_json(first.to_json()) == first
