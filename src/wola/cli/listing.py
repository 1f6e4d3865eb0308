"""`wola list`: every name a scenario can use, with one line about each."""

from collections.abc import Mapping
from typing import Annotated, get_args

import typer
from rich.table import Table
from rich.text import Text

from wola.cli.faults import known
from wola.cli.screen import screen
from wola.data import DATASETS
from wola.models import MODELS
from wola.training import (
    AGGREGATORS,
    ATTACKS,
    LABEL_ATTACKS,
    MIXINGS,
    OBJECTIVE_ATTACKS,
    OBJECTIVES,
    STRATEGIES,
    Scenario,
    described,
)
from wola.training.federation import make_partition


def catalogue() -> dict[str, dict[str, str]]:
    """What can be named, by kind: name to one line.

    >>> catalogue()["datasets"]["iris"]
    '150 flowers of three species, four lengths each, embedded in scikit-learn.'
    """
    attacks = {"none": "The f workers train honestly.", **ATTACKS, **LABEL_ATTACKS}
    return {
        "datasets": _lines(DATASETS),
        "partitions": _partitions(),
        "models": _lines(MODELS),
        "aggregators": _lines(AGGREGATORS),
        "mixings": _lines({"none": "The rule sees the updates as they are.", **MIXINGS}),
        "attacks": _lines(attacks),
        "objectives": _lines(OBJECTIVES),
        "objective-attacks": _lines({"none": "All report the truth.", **OBJECTIVE_ATTACKS}),
        "strategies": {name: _settings(fields) for name, fields in STRATEGIES.items()},
    }


def list_names(
    kind: Annotated[str | None, typer.Argument(help="One kind alone, such as attacks.")] = None,
) -> None:
    """Name all that a scenario can name, a line each.

    KIND is one of datasets, partitions, models, aggregators, mixings, attacks, objectives,
    objective-attacks, strategies; without it, all are listed.
    """
    kinds = catalogue()
    chosen = kinds if kind is None else {known("kind", kind, kinds): kinds[kind]}
    console = screen()
    for title, names in chosen.items():
        table = Table(title=title, title_justify="left", title_style="bold", box=None)
        table.show_header = False
        table.add_column(no_wrap=True, style="cyan", min_width=18)
        table.add_column(overflow="fold")
        for name, line in names.items():
            table.add_row(Text(name), Text(line))
        console.print(table)
        console.print()


def _lines(things: Mapping[str, object]) -> dict[str, str]:
    return {name: described(thing).replace("`", "") for name, thing in things.items()}


def _partitions() -> dict[str, str]:
    names = get_args(Scenario.model_fields["partition"].annotation)
    lines = {n: make_partition(Scenario(partition=n)).describe() for n in names}
    return {name: f"{line[0].upper()}{line[1:]}." for name, line in lines.items()}


def _settings(fields: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in fields.items())
