"""Strategies of a grid's own: written down in the store, so that reports can name them."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from wola.ground.files import write_whole
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
        content = json.dumps({**there, **new}, indent=2, ensure_ascii=False) + "\n"
        write_whole(folder / "strategies.json", content.encode())


def read_strategies(folder: Path) -> dict[str, dict[str, Any]]:
    """What was written down; nothing if it cannot be read."""
    with suppress(OSError, ValueError, AttributeError):
        found = json.loads((folder / "strategies.json").read_bytes()).items()
        return {str(name): dict(fields) for name, fields in found if isinstance(fields, dict)}
    return {}


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
