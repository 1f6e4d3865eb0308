"""The index of a store: all runs in one table, kept in one file, always checked against them."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import polars as pl
from polars.exceptions import PolarsError

from wola.bench.shared import read_shared
from wola.ground import WriteError
from wola.ground.files import write_whole
from wola.training import SEMANTICS, Scenario

_TYPES: dict[Any, type[pl.DataType]] = {
    bool: pl.Boolean,
    int: pl.Int64,
    float: pl.Float64,
}

_NUMBERS: dict[str, type[pl.DataType]] = {
    "accuracy": pl.Float64,
    "final_accuracy": pl.Float64,
    "dissimilarity_gradients": pl.Float64,
    "dissimilarity_momenta": pl.Float64,
    "cosine": pl.Float64,
    "skipped": pl.Int64,
    "dropped": pl.Int64,
    "ending": pl.String,
    "digest": pl.String,
}


class DamagedRun(UserWarning):
    """A run in a store that could not be read."""


def _type(annotation: Any) -> type[pl.DataType]:
    kinds = [kind for kind in get_args(annotation) or (annotation,) if kind is not NoneType]
    return _TYPES.get(kinds[0], pl.String)


#: The columns of the table: names and types.
SCHEMA: dict[str, type[pl.DataType]] = {
    "key": pl.String,
    "run": pl.String,
    "strategy": pl.String,
    **{name: _type(info.annotation) for name, info in Scenario.model_fields.items()},
    **_NUMBERS,
    "steps_taken": pl.Int64,
    "seconds": pl.Float64,
}

_STAMPED: dict[str, type[pl.DataType]] = {**SCHEMA, "stamp": pl.Int64}


def frame(store: Path, *, refresh: bool = False, shared: bool = False) -> pl.DataFrame:
    """All runs that are done, a row each, in the order of their keys.

    A row of the index counts only while the run's folder is there and has not changed since; all
    other runs are read from their folders, and the index is then written anew. A store that may
    not be written to is read all the same.
    """
    kept = pl.DataFrame(schema=_STAMPED) if refresh else _read(store / "index.parquet")
    folders = {path.name: path for path in run_folders(store / "runs")}
    stamps = {key: _stamp(path) for key, path in folders.items()}
    now = pl.DataFrame(
        {"key": list(stamps), "stamp": list(stamps.values())},
        schema={"key": pl.String, "stamp": pl.Int64},
    )
    valid = kept.join(now, on=["key", "stamp"], how="semi")
    known = set(valid["key"])
    rows = [row for key, path in folders.items() if key not in known and (row := _row(path))]
    new = [{**row, "stamp": stamps[str(row["key"])]} for row in rows]
    table = pl.concat([valid, pl.DataFrame(new, schema=_STAMPED)]).sort("key")
    if new or len(valid) < len(kept) or refresh:
        with suppress(WriteError):
            _write(store / "index.parquet", table)
    table = table.drop("stamp")
    return _with_shared(store / "shared", table) if shared else table


def run_folders(runs: Path) -> Iterator[Path]:
    """The folders of all runs, in the order of their keys."""
    for group in _folders(runs):
        yield from _folders(group)


def _folders(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            found = [e.path for e in entries if e.is_dir() and not e.name.startswith(".")]
    except FileNotFoundError:
        return []
    return [Path(path) for path in sorted(found)]


def _stamp(folder: Path) -> int:
    try:
        return os.stat(folder / "summary.json").st_mtime_ns
    except FileNotFoundError:
        return -1


def _row(folder: Path) -> dict[str, Any] | None:
    try:
        summary = json.loads((folder / "summary.json").read_bytes())
        scenario = json.loads((folder / "scenario.json").read_bytes())
        if summary["semantics"] != SEMANTICS:
            raise ValueError(f"its semantics are {summary['semantics']!r}")
        return _flat(folder.name, folder.name, scenario, summary)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        text = f"{folder} is left out, it cannot be read as a run: {error!r}"
        warnings.warn(text, DamagedRun, stacklevel=3)
        return None


def _flat(key: str, run: str, scenario: dict[str, Any], summary: dict[str, Any]) -> dict[str, Any]:
    return {
        "key": key,
        "run": run,
        "strategy": summary["strategy"],
        **{name: scenario[name] for name in Scenario.model_fields},
        **{name: summary[name] for name in _NUMBERS},
        "steps_taken": summary["steps"],
        "seconds": sum(summary["seconds"].values()),
    }


def _with_shared(folder: Path, table: pl.DataFrame) -> pl.DataFrame:
    answered = read_shared(folder)
    rows = {row["run"]: row for row in table.iter_rows(named=True)} if answered else {}
    more = [
        {
            **rows[asked["run"]],
            **asked["scenario"],
            "key": key,
            "strategy": Scenario(**asked["scenario"]).strategy,
        }
        for key, asked in answered.items()
        if asked["run"] in rows and key not in rows
    ]
    return pl.concat([table, pl.DataFrame(more, schema=SCHEMA)]).sort("key")


def _read(path: Path) -> pl.DataFrame:
    empty = pl.DataFrame(schema=_STAMPED)
    try:
        found = pl.read_parquet(path)
    except (OSError, PolarsError):
        return empty
    return found if found.schema == empty.schema else empty


def _write(path: Path, table: pl.DataFrame) -> None:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    write_whole(path, buffer.getvalue())
