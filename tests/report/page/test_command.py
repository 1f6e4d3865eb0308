import shlex
from functools import cache

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.main import get_command

from wola.cli import app
from wola.cli.flags import given as given_fields
from wola.cli.settling import settle
from wola.report.page.command import command_line
from wola.training import STRATEGIES, Scenario


@cache
def commands() -> dict[str, click.Command]:
    group = get_command(app)
    assert isinstance(group, click.Group)
    return group.commands


def scenario_of(command: str) -> Scenario:
    """What `wola train` would run for a command, by the command's own parser."""
    program, name, *words = shlex.split(command)
    assert program == "wola"
    context = commands()[name].make_context(name, words)
    fields = {name: context.params[name] for name in Scenario.model_fields}
    return settle({}, context.params["strategy"], given_fields(Scenario, fields))


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
        "data_source": st.sampled_from([None, "npm", "a folder/it's $HOME", "-x"]),
        "loss": st.sampled_from(["cross-entropy", "wola", "wola-batch"]),
        "objective": st.sampled_from(["prior", "uniform", "shared"]),
        "mixing": st.sampled_from(["none", "nnm", "arc+nnm"]),
        "aggregator": st.sampled_from(["median", "multi-krum"]),
        "partition": st.sampled_from(["dirichlet", "iid"]),
        "steps": st.integers(1, 900),
        "threads": st.integers(1, 4),
    },
)


@settings(max_examples=40, deadline=None)
@given(dataset=st.sampled_from(["digits", "iris", "cifar10", "mnist"]), changes=CHANGES)
def test_the_command_gives_the_same_scenario_whatever_was_changed(
    dataset: str, changes: dict[str, object]
) -> None:
    scenario = Scenario.paper(dataset, **changes)
    assert scenario_of(command_line(scenario.model_dump())).key() == scenario.key()


def test_what_is_the_default_is_not_said() -> None:
    assert command_line(Scenario.paper("cifar10").model_dump()) == "wola train --dataset cifar10"
