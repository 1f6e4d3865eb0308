"""The runs that a report is about: one table, what tells the settings apart, and what failed."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from wola.bench.failures import failed_scenario
from wola.bench.index import SCHEMA, content_text
from wola.bench.store import Store
from wola.bench.strategies import Strategies, read_strategies
from wola.ground.names import counted
from wola.ground.sealed import DamagedFile
from wola.parts import part_name
from wola.report.names import strategy_name
from wola.report.settings import TABLE_AXES, content_versions, read_content, settings_of
from wola.training import SEMANTICS, STRATEGIES, Scenario

#: The columns of a report's table: those of a store's, whether the loss is WoLA, the setting, and
#: the setting without batch and momentum.
COLUMNS: dict[str, type[pl.DataType]] = {
    **SCHEMA,
    "wola": pl.Boolean,
    "setting": pl.String,
    "rest": pl.String,
}

_PLACE = (*TABLE_AXES, "setting")


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of one or more stores.

    `table` has a row per scenario that has a result, `failed` one per scenario that failed and has
    none (its numbers are null). `setting` says in words which fields beside those of `TABLE_AXES`
    are not the paper's for the dataset; runs of different settings never share a number of a table.
    `notes` tells what was left out and why. `strategies` are those of one's own, with the fields
    that each sets. Nothing that the runs name is imported or opened.
    """

    table: pl.DataFrame
    failed: pl.DataFrame
    stores: tuple[Store, ...]
    notes: tuple[str, ...]
    strategies: Strategies = field(default_factory=dict)

    def where(self, **values: Sequence[Any] | None) -> Runs:
        """The runs whose columns have one of the values; None stands for all."""
        return self.filtered(
            *(pl.col(name).is_in(list(v)) for name, v in values.items() if v is not None)
        )

    def filtered(self, *conditions: pl.Expr) -> Runs:
        """The runs for which all conditions hold."""
        return replace(
            self, table=self.table.filter(conditions), failed=self.failed.filter(conditions)
        )

    def grouped(self, *names: str) -> list[tuple[tuple[Any, ...], Runs]]:
        """The runs by the values of some columns, in the order of the values."""
        found = pl.concat([self.table.select(names), self.failed.select(names)]).unique()
        return [
            (values, self.where(**{name: [v] for name, v in zip(names, values, strict=True)}))
            for values in found.sort(names).iter_rows()
        ]

    def fixes(self, strategy: str, axis: str) -> bool:
        """Whether a strategy itself says what stands on an axis, such as its loss or aggregator."""
        return axis in self.strategies.get(strategy, STRATEGIES["-"])

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
        warnings.simplefilter("always", DamagedFile)
        tables = [store.frame(coinciding=True) for store in stores]
        others = _other_versions(stores)
        failures = [_failures(store) for store in stores]
    notes += dict.fromkeys(str(found.message) for found in caught)
    notes += others
    own = _own_strategies(stores, notes)
    none = pl.DataFrame(schema=SCHEMA)
    done, failed = pl.concat([none, *tables]), pl.concat([none, *failures])
    return assembled(done, failed, strategies=own, stores=stores, notes=notes)


def assembled(
    done: pl.DataFrame,
    failed: pl.DataFrame,
    *,
    strategies: Strategies,
    stores: Sequence[Store] = (),
    notes: Iterable[str] = (),
) -> Runs:
    """The runs of two tables with the columns of a store's: those done, and those that failed.

    `strategies` are those of one's own; `notes` come before what there is to say of these runs.
    """
    told = list(notes)
    versions = content_versions(done["content"].to_list())
    failed = failed.filter(_as_it_is(failed["content"], versions))
    table, failed = _described(done, failed, strategies, versions)
    table = _each_once(table, told)
    failed = failed.join(table, on=_PLACE, how="anti", nulls_equal=True)
    if len(failed):
        told.append(f"{counted(len(failed), 'run')} failed")
    early = table.filter(pl.col("ending") != "finished")
    if len(early):
        told.append(
            f"{counted(len(early), 'run')} ended early: tests after the end count with the last "
            "model that was finite"
        )
    told += _environments(table)
    answered = table.filter(pl.col("key") != pl.col("run"))
    if len(answered):
        told.append(
            f"{len(answered)} of {counted(len(table), 'scenario')} coincide with another, and show "
            "the result of its run"
        )
    return Runs(table, failed, tuple(stores), tuple(told), strategies)


def _environments(table: pl.DataFrame) -> list[str]:
    """What differs between the machines and libraries of the runs, if anything does."""
    found = [json.loads(text) for text in table["environment"].drop_nulls().unique().sort()]
    names = sorted({name for one in found for name in one})
    apart = {name: sorted({str(one.get(name, "none")) for one in found}) for name in names}
    words = [f"{name} {' and '.join(values)}" for name, values in apart.items() if len(values) > 1]
    if not words:
        return []
    many = f"the runs were made in {len(found)} environments, so bits may differ"
    return [f"{many}: {', '.join(words)}"]


def _other_versions(stores: Iterable[Store]) -> list[str]:
    counts: Counter[str] = Counter()
    for store in stores:
        counts.update(store.other_versions())
    return [
        f"{counted(n, 'run')} of semantics {version!r} {'are' if n > 1 else 'is'} kept and left out"
        for version, n in sorted(counts.items())
    ]


def _own_strategies(stores: Iterable[Store], notes: list[str]) -> dict[str, dict[str, Any]]:
    """The strategies of all stores; a name that stands for two things gets a number."""
    made: dict[str, dict[str, Any]] = {}
    for store in stores:
        for name, fields in read_strategies(store.path / "strategies").items():
            if not fields or fields in made.values():
                continue
            number, called = 1, name
            while called in made or called in STRATEGIES:
                number += 1
                called = f"{name} ({number})"
            made[called] = fields
            if called != name:
                notes.append(
                    f"strategy {name!r} of {store.path} sets other fields than elsewhere, and is "
                    f"called {called!r}"
                )
    return made


def _failures(store: Store) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for key in store.failed():
        failure = store.failure(key)
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            if failure is not None and failure["record"]["semantics"] == SEMANTICS:
                fields = failed_scenario(failure).model_dump()
                content = content_text(failure["record"]["content"])
                rows.append({"key": key, "run": key, **fields, "content": content})
    return pl.DataFrame(rows, schema=SCHEMA)


def _as_it_is(contents: pl.Series, versions: Mapping[str, set[str]]) -> pl.Series:
    """Whether runs failed with data and sources as runs that are done have them, or with new ones.

    What failed before its data were mended is no part of a table.
    """
    kept = [
        all(digest in versions.get(name, {digest}) for name, digest in read_content(c).items())
        for c in contents
    ]
    return pl.Series(kept, dtype=pl.Boolean)


def _described(
    done: pl.DataFrame, lost: pl.DataFrame, own: Strategies, versions: Mapping[str, set[str]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both tables with the columns of a report, and a `strategy` for every run."""
    both = pl.concat([done, lost])
    # Runs that differ only on axes which no strategy sets are described once for all.
    unsaid = set(TABLE_AXES[1:]).difference(*own.values())
    names = [name for name in (*Scenario.model_fields, "content") if name not in unsaid]
    alike = both.select(names).unique(maintain_order=True)
    rows = list(alike.iter_rows(named=True))
    for row in rows:
        row["strategy"] = strategy_name(row, own)
    changed = frozenset(name for name, found in versions.items() if len(found) > 1)
    settings = settings_of(rows, own, changed)
    described = alike.with_columns(
        pl.Series("strategy", [row["strategy"] for row in rows], pl.String),
        pl.Series("wola", [part_name(row["loss"]).startswith("wola") for row in rows], pl.Boolean),
        pl.Series("setting", [setting.text for setting in settings], pl.String),
        pl.Series("rest", [setting.rest for setting in settings], pl.String),
    )
    made = both.drop("strategy").join(
        described, on=names, how="left", nulls_equal=True, maintain_order="left"
    )
    made = made.select(list(COLUMNS))
    return made[: len(done)], made[len(done) :]


def _each_once(table: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """One row per place in a table: the first by key, with a note if others are left out."""
    table = table.sort("key", maintain_order=True)
    kept = table.unique(_PLACE, keep="first", maintain_order=True)
    more = len(table) - len(kept)
    if more:
        bits = table.group_by(_PLACE).agg(pl.col("digest").n_unique())
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
