"""The same scenario by the engine and through Flower's messages: the same model."""

from pathlib import Path

import pytest
import torch

from tests.flower.federations import scenario_grid, scenario_strategy, state_of
from wola.training import Scenario, simulate


def digits(**fields: object) -> Scenario:
    given = {
        "dataset": "digits",
        "workers": 7,
        "byzantine": 2,
        "loss": "wola",
        "objective": "shared",
        "attack": "none",
        "batch": 32,
        "steps": 8,
        **fields,
    }
    return Scenario(**given)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"attack": "lf"},
        {"attack": "lf", "mixing": "nnm"},
        {"aggregator": "tests.training.first_row:FirstRow"},
        {"mixing": "nnm", "aggregator": "multi-krum", "server": "momentum", "lr": 0.1},
        {"attack": "lf", "mixing": "bucketing", "server": "adam", "lr": 0.01},
        {"local_steps": 3, "attack": "lf", "loss": "cross-entropy"},
        {"local_steps": 2, "attack": "lf", "loss": "wola-batch"},
        {"local_steps": 2, "attack": "lf", "loss": "fedlc"},
        {"attack": "lf", "loss": "fedrs(alpha=0.2)", "alpha": 0.1},
        {"attack": "lf", "loss": "dmfl(tau=2)"},
        {"attack": "lf", "loss": "logit-adjusted"},
        {"attack": "lf", "loss": "tests.flower.own_loss:ConstantWeight(weight=0.5)"},
        {
            "model": "tests.models.factories:normalised_convnet",
            "workers": 3,
            "byzantine": 1,
            "steps": 3,
            "attack": "lf",
        },
    ],
    ids=[
        "plain",
        "flipped",
        "nnm",
        "order",
        "multi-krum",
        "random-rule",
        "local-steps",
        "per-batch",
        "fedlc",
        "fedrs",
        "dmfl",
        "logit-adjusted",
        "own-loss",
        "batch-norm",
    ],
)
def test_the_engine_and_flower_train_the_same_model(
    fields: dict[str, object], tmp_path: Path
) -> None:
    scenario = digits(**fields)
    engine = simulate(scenario)
    strategy, module = scenario_strategy(scenario)
    result = strategy.start(scenario_grid(scenario, module, tmp_path), num_rounds=scenario.steps)
    assert strategy.ending == "finished"
    assert torch.equal(strategy.run.q, engine.q)
    state = result.arrays.to_torch_state_dict()
    assert state.keys() == engine.state.keys()
    for name, value in engine.state.items():
        assert torch.equal(state[name], value), name
    started = torch.cat([part.double().flatten() for part in module.state_dict().values()])
    assert float((state_of(result.arrays) - started).abs().max()) > 1e-3


SERVER = {"server_data": "equal(samples=40)", "attack": "lf"}
CONVNET = {"model": "tests.models.factories:normalised_convnet", "steps": 3}


@pytest.mark.parametrize(
    "fields",
    [
        {"aggregator": "fltrust"},
        {"aggregator": "fltrust", "mixing": "nnm", "local_steps": 2, "loss": "fedlc", **CONVNET},
        {"aggregator": "zeno-plus-plus", "loss": "wola-batch", "beta": 0.0, "server": "adam"},
        {"aggregator": "boba", "workers": 13, "steps": 4, "local_steps": 2},
        {"aggregator": "boba", "workers": 13, **CONVNET},
        {"aggregator": "zeno", "steps": 4},
        {"aggregator": "lfr", "steps": 4},
        {"aggregator": "bygars", "steps": 4, "server_data": "skewed(samples=30, noise=0.1)"},
    ],
    ids=lambda fields: fields["aggregator"],
)
def test_the_engine_and_flower_make_the_same_of_data_of_the_servers_own(
    fields: dict[str, object], tmp_path: Path
) -> None:
    scenario = digits(**{**SERVER, **fields})
    engine = simulate(scenario)
    strategy, module = scenario_strategy(scenario)
    result = strategy.start(scenario_grid(scenario, module, tmp_path), num_rounds=scenario.steps)
    assert [record.skipped for record in strategy.records] == [None] * (scenario.steps + 1)
    for name, value in result.arrays.to_torch_state_dict().items():
        assert torch.equal(value, engine.state[name]), name


def test_the_weights_recorded_are_those_of_the_engine(tmp_path: Path) -> None:
    scenario = digits(attack="lf", aggregator="multi-krum", steps=2)
    engine = simulate(scenario)
    strategy, module = scenario_strategy(scenario)
    strategy.start(scenario_grid(scenario, module, tmp_path), num_rounds=2)
    for step, record in zip(engine.steps, strategy.records[1:], strict=True):
        assert record.weights is not None
        assert step.weights == pytest.approx(tuple(record.weights.values()), abs=1e-6)


@pytest.mark.parametrize("server", ["sgd", "adam"])
def test_the_default_dtype_of_torch_changes_nothing(server: str, tmp_path: Path) -> None:
    scenario = digits(steps=2, attack="lf", server=server, lr=0.01)
    expected = simulate(scenario).state
    torch.set_default_dtype(torch.float64)
    try:
        strategy, module = scenario_strategy(scenario)
        result = strategy.start(scenario_grid(scenario, module, tmp_path), num_rounds=2)
    finally:
        torch.set_default_dtype(torch.float32)
    for name, value in result.arrays.to_torch_state_dict().items():
        assert torch.equal(value, expected[name]), name
