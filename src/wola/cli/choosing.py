"""Which store, and which of its runs: what the words of a command name."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from wola.bench.grid import AXES, GridError, axis_value
from wola.bench.index import SCHEMA
from wola.bench.store import Store, StoreError
from wola.cli.faults import Refused
from wola.training import Scenario

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


def chosen(table: pl.DataFrame, cuts: Mapping[str, list[str] | None]) -> pl.DataFrame:
    """The rows whose fields have one of the values asked for."""
    for name in AXES:
        if asked := cuts.get(name):
            try:
                values = [axis_value(name, value) for value in asked]
            except GridError as error:
                raise Refused(str(error)) from None
            table = table.filter(pl.col(name).is_in(values))
    return table


def failures(store: Store) -> pl.DataFrame:
    """The runs that failed, a row each; `ending` is the last line of the log."""
    rows = []
    for key in store.failed():
        if failure := store.failure(key):
            strategy = Scenario(**failure["scenario"]).strategy
            lines = failure["log"].strip().splitlines() or ["no log"]
            row = {"key": key, "run": key, **failure["scenario"], "strategy": strategy}
            rows.append({**row, "ending": lines[-1]})
    return pl.DataFrame(rows, schema=_FAILURES)
