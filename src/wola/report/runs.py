"""The runs that a report is about: one table, what tells the settings apart, and what failed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from wola.bench.index import SCHEMA, DamagedRun
from wola.bench.store import Store
from wola.ground.names import counted
from wola.report.names import strategy_name
from wola.training import STRATEGIES, Scenario

#: What places a run in a table.
AXES = ("dataset", "alpha", "byzantine", "strategy", "aggregator", "attack", "seed")

#: The columns of a report's table: those of a store's, and the setting.
COLUMNS: dict[str, type[pl.DataType]] = {**SCHEMA, "setting": pl.String}

_BY_STRATEGY = {field for fields in STRATEGIES.values() for field in fields} | {"objective_rule"}
_SETTING = [name for name in Scenario.model_fields if name not in (*AXES, *_BY_STRATEGY)]


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of one or more stores.

    `table` has a row per scenario that has a result, `failed` one per scenario that failed and has
    none (its numbers are null). `setting` says in words which fields beside those of `AXES` are
    not the paper's for the dataset; runs of different settings never share a number of a table.
    `notes` tells what was left out and why.
    """

    table: pl.DataFrame
    failed: pl.DataFrame
    stores: tuple[Store, ...]
    notes: tuple[str, ...]

    def where(self, **values: Sequence[Any] | None) -> Runs:
        """The runs whose columns have one of the values; None stands for all."""
        wanted = [pl.col(name).is_in(list(v)) for name, v in values.items() if v is not None]
        return Runs(self.table.filter(wanted), self.failed.filter(wanted), self.stores, self.notes)

    def parts(self, *names: str) -> list[tuple[tuple[Any, ...], Runs]]:
        """The runs by the values of some columns, in the order of the values."""
        found = pl.concat([self.table.select(names), self.failed.select(names)]).unique()
        return [
            (values, self.where(**{name: [v] for name, v in zip(names, values, strict=True)}))
            for values in found.sort(names).iter_rows()
        ]

    def folder(self, run: str) -> Path:
        """Where the files of a run are."""
        for store in self.stores:
            if store.is_done(run):
                return store.folder(run)
        raise FileNotFoundError(f"run {run} is in none of the stores")


def read_runs(*stores: Store) -> Runs:
    """All runs of some stores, each once.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     len(read_runs(Store.open(folder)).table)
    0
    """
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DamagedRun)
        tables = [store.frame(shared=True) for store in stores]
    notes += [str(found.message) for found in caught]
    none = pl.DataFrame(schema=SCHEMA)
    table = _each_once(_settled(pl.concat([none, *tables])), notes)
    failed = _settled(pl.concat([none, *map(_failures, stores)]))
    failed = failed.join(table, on=[*AXES, "setting"], how="anti", nulls_equal=True)
    if len(failed):
        notes.append(f"{counted(len(failed), 'run')} failed")
    early = table.filter(pl.col("ending") != "finished")
    if len(early):
        notes.append(
            f"{counted(len(early), 'run')} ended early: the accuracy is that of the tests before "
            "the end"
        )
    shared = table.filter(pl.col("key") != pl.col("run"))
    if len(shared):
        notes.append(
            f"{len(shared)} of {counted(len(table), 'scenario')} coincide with another, and show "
            "the result of its run"
        )
    return Runs(table, failed, tuple(stores), tuple(notes))


def _failures(store: Store) -> pl.DataFrame:
    found = ((key, store.failure(key)) for key in store.failed() if not store.is_done(key))
    rows = [{"key": key, "run": key, **f["scenario"]} for key, f in found if f is not None]
    return pl.DataFrame(rows, schema=SCHEMA)


def _settled(table: pl.DataFrame) -> pl.DataFrame:
    """With `setting`, and a `strategy` for every run."""
    fields = table.select(*dict.fromkeys(("dataset", *_SETTING))).iter_rows(named=True)
    ways = table.select(*sorted(_BY_STRATEGY)).iter_rows(named=True)
    return table.with_columns(
        pl.Series("setting", [_setting(tuple(row.items())) for row in fields], pl.String),
        pl.Series("strategy", [_strategy(tuple(row.items())) for row in ways], pl.String),
    )


@cache
def _strategy(fields: tuple[tuple[str, Any], ...]) -> str:
    return strategy_name(dict(fields))


@cache
def _setting(fields: tuple[tuple[str, Any], ...]) -> str:
    row = dict(fields)
    usual = _usual(row["dataset"])
    return ", ".join(f"{name} {row[name]}" for name in _SETTING if row[name] != usual[name])


@cache
def _usual(dataset: str) -> Mapping[str, Any]:
    return Scenario.paper(dataset).model_dump()


def _each_once(table: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """One row per place in a table: the first by key, with a note if others are left out."""
    table = table.sort("key", maintain_order=True)
    kept = table.unique([*AXES, "setting"], keep="first", maintain_order=True)
    more = len(table) - len(kept)
    if more:
        bits = table.group_by(*AXES, "setting").agg(pl.col("digest").n_unique())
        apart = len(bits.filter(pl.col("digest") > 1))
        differ = f"{apart} with other bits" if apart else "with the same bits"
        notes.append(
            f"{counted(more, 'run')} left out that another takes the place of, {differ}; of each "
            "two the first by key is shown"
        )
    return kept


def values(runs: Runs, name: str) -> list[Any]:
    """The values of a column among the runs and the failed ones, sorted."""
    found: Iterable[Any] = pl.concat([runs.table[name], runs.failed[name]]).unique().sort()
    return list(found)
