"""`wola list`: every part a scenario can name, with its parameters and one line about each."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from wola.cli.errors import known
from wola.cli.screen import say_json, screen
from wola.parts.grammar import written_value
from wola.parts.parameters import parameters_of
from wola.training import PARTS, STRATEGIES


def catalogue() -> dict[str, dict[str, str]]:
    """What can be named, by kind: each part with its parameters and their defaults, and a line.

    >>> catalogue()["dataset"]["iris"]
    '150 flowers of three species, four lengths each, embedded in scikit-learn.'
    >>> list(catalogue()["aggregator"])[5]
    'krum(power=2)'
    """
    made: dict[str, dict[str, str]] = {}
    for field, kind in PARTS.kinds.items():
        lines = kind.described()
        made[kind_name(field)] = {
            signature(name, kind.names[name], kind.later) if name in kind.names else name: (
                line.replace(":math:", "")
            )
            for name, line in lines.items()
        }
    made["strategy"] = {name: _settings(sets) for name, sets in STRATEGIES.items()}
    return made


def kind_name(field: str) -> str:
    """What `wola list` calls the kind of part that a field names.

    >>> kind_name("objective_attack")
    'objective-attack'
    """
    return field.replace("_", "-")


def signature(name: str, factory: Any, later: Mapping[str, Any]) -> str:
    """A part as it is written with all its parameters, at their defaults; required ones as names.

    >>> from wola.data import Csv, Shards
    >>> signature("shards", Shards, {}), signature("csv", Csv, {})
    ('shards(k=2)', 'csv(path, label=label, client=none, test=none)')
    """
    shown = [
        key if parameter.default is parameter.empty else f"{key}={default_text(parameter.default)}"
        for key, parameter in parameters_of(factory).items()
        if key not in later
    ]
    return f"{name}({', '.join(shown)})" if shown else name


def list_parts(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", show_default=False, help="One kind, such as attack."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List what a scenario can name, with parameters and their defaults.

    KIND is a field of a scenario (dataset, partition, model, loss, objective, objective-attack,
    mixing, aggregator, attack, schedule, server), noise, or strategy; without it, all are listed.
    A part of your own is written module:Name(key=value).
    """
    kinds = catalogue()
    chosen = kinds if kind is None else {known("KIND", kind, kinds): kinds[kind]}
    if as_json:
        say_json(chosen)
        return
    console = screen()
    for title, names in chosen.items():
        table = Table(title=title, title_justify="left", title_style="bold", box=None)
        table.show_header = False
        table.add_column(style="cyan", min_width=18, max_width=44, overflow="fold")
        table.add_column(overflow="fold")
        for name, line in names.items():
            table.add_row(Text(name), Text(line))
        console.print(table)
        console.print()


def default_text(value: Any) -> str:
    """A default as it is written.

    >>> from wola.aggregation import Krum
    >>> default_text(2.0), default_text(None), default_text(Krum(power=1))
    ('2', 'none', 'krum(power=1)')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, tuple) and len(value) > 1:
        return f"({', '.join(map(default_text, value))})"
    if value is None or isinstance(value, bool | int | float | str | tuple):
        return written_value(value)
    kind = next(k for k, found in PARTS.kinds.items() if isinstance(value, found.base))
    return PARTS.settle(kind, value)


def _settings(sets: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sets.items())
