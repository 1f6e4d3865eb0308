"""Which store, and which of its runs: what the words of a command name.

Nothing that a run names is imported, and no data of a user's are opened.
"""

from pathlib import Path
from typing import Any

import polars as pl

from wola.bench.failures import failed_scenario
from wola.bench.grid import AXES, GridError, axis_value
from wola.bench.index import SCHEMA
from wola.bench.marker import StoreError
from wola.bench.store import Store
from wola.bench.strategies import named_strategy, read_strategies
from wola.cli.axis_flags import Asked
from wola.cli.errors import Refused
from wola.parts import GrammarError, parse, part_name, written
from wola.training import PARTS

_FAILURES = {name: kind for name, kind in SCHEMA.items() if name in (*AXES, "key", "run", "ending")}


def open_store(path: Path) -> Store:
    """The store in a folder, which must be there."""
    try:
        return Store.open(path, create=False)
    except StoreError as error:
        raise Refused(str(error)) from error.__cause__


def whole_key(store: Store, beginning: str) -> str:
    """The key that begins so; refused if there is none, or more than one."""
    found = {key for key in (*store.keys(), *store.failed()) if key.startswith(beginning)}
    if len(found) != 1:
        many = f"{len(found)} runs begin so" if found else "no run begins so"
        raise Refused(f"KEY = {beginning!r}; {many}; allowed: `wola runs ls` lists them")
    return found.pop()


def selected(table: pl.DataFrame, asked: Asked) -> pl.DataFrame:
    """The rows whose fields have one of the values asked for.

    The name of a part stands for it with whatever parameters it has.

    >>> table = pl.DataFrame({"attack": ["foe", "foe(epsilon=0.5)", "alie"]})
    >>> selected(table, {"attack": ["foe"]})["attack"].to_list()
    ['foe', 'foe(epsilon=0.5)']
    """
    strategies = _strategies(table)
    for name in AXES:
        if values := asked.get(name):
            meant: list[Any] = []
            for value in values:
                meant += _meant(name, value, table, strategies)
            table = table.filter(pl.col(name).is_in(meant))
    return table


def failures(store: Store) -> pl.DataFrame:
    """The runs that failed, a row each; `ending` is the last line of the log."""
    own = read_strategies(store.path / "strategies")
    rows = []
    for key in store.failed():
        if failure := store.failure(key):
            fields = failed_scenario(failure).model_dump()
            lines = failure["log"].strip().splitlines() or ["no log"]
            row = {"key": key, "run": key, **fields, "strategy": named_strategy(fields, own)}
            rows.append({**row, "ending": lines[-1]})
    return pl.DataFrame(rows, schema=_FAILURES)


def _strategies(table: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """The names of strategies in a table; what each one sets is not asked here."""
    names = table["strategy"].unique() if "strategy" in table.columns else ()
    return {name: {} for name in names if name is not None}


def _meant(
    name: str, value: str, table: pl.DataFrame, strategies: dict[str, dict[str, Any]]
) -> list[Any]:
    if name in PARTS.kinds:
        there = table[name].unique().to_list()
        if named := [text for text in there if part_name(text) == value.strip()]:
            return named
        if ":" in value:
            return [_plain(value)]
    try:
        return [axis_value(name, value, strategies)]
    except GridError as error:
        raise Refused(str(error)) from None


def _plain(text: str) -> str:
    """The text of a user's own part as a store has it, as far as that goes without importing it."""
    try:
        return "+".join(map(written, parse(text)))
    except GrammarError as error:
        raise Refused(f"{text!r}: {error}") from None
