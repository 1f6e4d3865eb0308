"""The index of a store: all runs in one table, kept in one file, always checked against them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import polars as pl

from wola.bench.coincidence import read_coincidences
from wola.bench.run_files import record_in, summary_in
from wola.bench.strategies import Strategies, named_strategy, read_strategies
from wola.ground.files import WriteError, write_whole
from wola.ground.sealed import Damaged, DamagedFile
from wola.ground.tables import read_sealed_table, sealed_table
from wola.training import SEMANTICS, STRATEGIES, Scenario
from wola.training.evaluate import class_scores

_TYPES: dict[Any, type[pl.DataType]] = {
    bool: pl.Boolean,
    int: pl.Int64,
    float: pl.Float64,
}

_NUMBERS: dict[str, type[pl.DataType]] = {
    "accuracy": pl.Float64,
    "final_accuracy": pl.Float64,
    "balanced_accuracy": pl.Float64,
    "macro_f1": pl.Float64,
    "worst_class": pl.Float64,
    "byzantine_share": pl.Float64,
    "dissimilarity_gradients": pl.Float64,
    "dissimilarity_momenta": pl.Float64,
    "cosine": pl.Float64,
    "skipped": pl.Int64,
    "dropped": pl.Int64,
    "ending": pl.String,
    "digest": pl.String,
}

# Numbers that not every run has: of its classes, and of weights that a rule may not give.
_UNTOLD = dict.fromkeys(("balanced_accuracy", "macro_f1", "worst_class", "byzantine_share"))


class DamagedRun(DamagedFile):
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
    "content": pl.String,
    "environment": pl.String,
    **_NUMBERS,
    "steps_taken": pl.Int64,
    "seconds": pl.Float64,
}

_STAMPED: dict[str, type[pl.DataType]] = {**SCHEMA, "semantics": pl.String, "stamp": pl.Int64}


def frame(store: Path, *, refresh: bool = False, coinciding: bool = False) -> pl.DataFrame:
    """All runs of this version that are done, a row each, in the order of their keys.

    A row of the index counts only while the run's folder is there and has not changed since; all
    other runs are read from their folders, and the index is then written anew. A store that may
    not be written to is read all the same.
    """
    table = _whole(store, refresh=refresh).filter(pl.col("semantics") == SEMANTICS)
    table = table.drop("stamp", "semantics")
    if coinciding:
        table = _with_coinciding(store / "coincidences", table)
    return _with_strategies(table, read_strategies(store / "strategies"))


def _with_strategies(table: pl.DataFrame, own: Strategies) -> pl.DataFrame:
    """The table with the name of each run's strategy, found once for all that set the same."""
    fields = sorted({name for sets in (*own.values(), *STRATEGIES.values()) for name in sets})
    alike = table.select(name for name in fields if name in table.columns).unique()
    names = [named_strategy(row, own) for row in alike.iter_rows(named=True)]
    named = alike.with_columns(pl.Series("strategy", names, pl.String))
    made = table.drop("strategy").join(
        named, on=alike.columns, how="left", nulls_equal=True, maintain_order="left"
    )
    return made.select(table.columns)


def other_versions(store: Path) -> dict[str, int]:
    """How many runs there are of each other version of the semantics."""
    table = _whole(store).filter(pl.col("semantics") != SEMANTICS)
    return dict(table.group_by("semantics").len().sort("semantics").iter_rows())


def _whole(store: Path, *, refresh: bool = False) -> pl.DataFrame:
    kept = pl.DataFrame(schema=_STAMPED) if refresh else _read(store / "index.parquet")
    folders = {os.path.basename(path): path for path in _run_folders(store / "runs")}
    stamps = {key: _stamp(path) for key, path in folders.items()}
    now = pl.DataFrame(
        {"key": list(stamps), "stamp": list(stamps.values())},
        schema={"key": pl.String, "stamp": pl.Int64},
    )
    valid = kept.join(now, on=["key", "stamp"], how="semi")
    known = set(valid["key"])
    rows = [row for key, path in folders.items() if key not in known and (row := _row(Path(path)))]
    new = [{**row, "stamp": stamps[str(row["key"])]} for row in rows]
    table = pl.concat([valid, pl.DataFrame(new, schema=_STAMPED)]).sort("key")
    if new or len(valid) < len(kept) or refresh:
        with suppress(WriteError):
            write_whole(store / "index.parquet", sealed_table(table))
    return table


def run_folders(runs: Path) -> Iterator[Path]:
    """The folders of all runs, in the order of their keys."""
    return map(Path, _run_folders(runs))


def _run_folders(runs: Path) -> Iterator[str]:
    # As text: a path object for every run would take longer than all else.
    for group in _folders(str(runs)):
        yield from _folders(group)


def _folders(parent: str) -> list[str]:
    try:
        with os.scandir(parent) as entries:
            found = [e.path for e in entries if e.is_dir() and not e.name.startswith(".")]
    except FileNotFoundError:
        return []
    return sorted(found)


def _stamp(folder: str) -> int:
    try:
        return os.stat(f"{folder}/summary.json").st_mtime_ns
    except FileNotFoundError:
        return -1


def _row(folder: Path) -> dict[str, Any] | None:
    try:
        record = record_in(folder)
        if record["semantics"] != SEMANTICS:
            # Of another version only this much can be said.
            return {"key": folder.name, "run": folder.name, "semantics": str(record["semantics"])}
        return _flat(folder.name, record, summary_in(folder))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        told = str(error) if isinstance(error, Damaged) else repr(error)
        text = f"{folder} is left out, it cannot be read as a run: {told}"
        warnings.warn(text, DamagedRun, stacklevel=4)
        return None


def _flat(key: str, record: dict[str, Any], summary: dict[str, Any]) -> dict[str, Any]:
    return {
        "key": key,
        "run": key,
        **Scenario.stored(record["fields"]).model_dump(),
        "content": content_text(record["content"]),
        "environment": content_text(summary.get("environment", {})),
        **numbers_of(summary),
        "steps_taken": _fitting("steps", summary["steps"], pl.Int64),
        "seconds": float(sum(summary["seconds"].values())),
        "semantics": SEMANTICS,
    }


def numbers_of(summary: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a run from its summary; those of its classes come from the confusion table."""
    found = {**_UNTOLD, **summary, **class_scores(summary.get("confusion") or [[0]])}
    return {name: _fitting(name, found[name], kind) for name, kind in _NUMBERS.items()}


def _fitting(name: str, value: Any, kind: type[pl.DataType]) -> Any:
    fits = {pl.Float64: (int, float), pl.Int64: (int,), pl.String: (str,)}[kind]
    if value is not None and (isinstance(value, bool) or not isinstance(value, fits)):
        raise ValueError(f"{name} = {value!r}; allowed: {kind.__name__}")
    return value


def content_text(content: dict[str, str]) -> str | None:
    """A table of texts in one line, such as the content of a run's own data; None if it is empty.

    >>> content_text({"mine.npz": "ab12"})
    '{"mine.npz": "ab12"}'
    """
    return json.dumps(content, sort_keys=True) if content else None


def _with_coinciding(folder: Path, table: pl.DataFrame) -> pl.DataFrame:
    answered = read_coincidences(folder)
    rows = {row["run"]: row for row in table.iter_rows(named=True)} if answered else {}
    more = []
    for key, asked in answered.items():
        if asked["run"] in rows and key not in rows:
            with suppress(ValueError, KeyError, TypeError):
                fields = Scenario.stored(asked["record"]["fields"]).model_dump()
                more.append({**rows[asked["run"]], **fields, "key": key})
    return pl.concat([table, pl.DataFrame(more, schema=SCHEMA)]).sort("key")


def _read(path: Path) -> pl.DataFrame:
    empty = pl.DataFrame(schema=_STAMPED)
    try:
        found = read_sealed_table(path)
    except OSError:
        return empty
    except Damaged as error:
        warnings.warn(f"{error}; it is made anew", DamagedFile, stacklevel=4)
        return empty
    return found if found.schema == empty.schema else empty
