"""Strategies of a grid's own: written down in the store, so that reports can name them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wola.ground.files import move_aside, write_whole
from wola.ground.sealed import sealed, sealed_or_left_out
from wola.training import STRATEGIES

Strategies = Mapping[str, Mapping[str, Any]]


class StrategyTaken(ValueError):
    """A name that stands for another strategy in this store."""


def write_strategies(folder: Path, strategies: Strategies) -> None:
    """Writes down what each name sets; a name never stands for two strategies of one store."""
    there = read_strategies(folder)
    for name, fields in strategies.items():
        if there.get(name, fields) != fields:
            raise StrategyTaken(
                f"strategy {name!r} stands for {_shown(there[name])} in this store, and here for "
                f"{_shown(fields)}; allowed: another name, or another store"
            )
    if new := {name: dict(fields) for name, fields in strategies.items() if name not in there}:
        path = strategies_file(folder)
        if not there and path.exists():
            # Damaged, as reading it has said: somebody may still make out the names by eye.
            move_aside(path, folder.parent / "corrupt")
        write_whole(path, sealed({"strategies": {**there, **new}}, indent=2))


def read_strategies(folder: Path) -> dict[str, dict[str, Any]]:
    """What was written down; nothing, with a warning, if it is damaged."""
    return strategies_in(sealed_or_left_out(strategies_file(folder)) or {})


def strategies_in(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The strategies that the content of a file names, each a table of fields.

    >>> strategies_in({"strategies": {"Slow": {"lr": 0.1}, "odd": 3}})
    {'Slow': {'lr': 0.1}}
    """
    found = content.get("strategies")
    tables = found.items() if isinstance(found, dict) else ()
    return {name: dict(fields) for name, fields in tables if isinstance(fields, dict)}


def strategies_file(folder: Path) -> Path:
    """Where they are written down."""
    return folder / "strategies.json"


def named_strategy(fields: Mapping[str, Any], own: Strategies) -> str | None:
    """The name of the strategy that a scenario's fields are: of several, the one that sets most.

    >>> fields = {**STRATEGIES["WoLA"], "lr": 0.5}
    >>> named_strategy(fields, {}), named_strategy(fields, {"Slow": fields})
    ('WoLA', 'Slow')
    """
    known = {**own, **STRATEGIES}
    fitting = [name for name, sets in known.items() if sets.items() <= fields.items()]
    return max(fitting, key=lambda name: len(known[name]), default=None)


def _shown(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in fields.items())
