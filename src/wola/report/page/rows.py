"""The rows behind the page's tables, and all it shows of one run when asked."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from wola.report.names import in_order, parts_in_order
from wola.report.page.command import command_line
from wola.report.page.curves import run_curves
from wola.report.runs import Runs, values
from wola.report.short_names import short_names, short_strategies
from wola.training import STRATEGIES, Scenario

#: A row's values and the column each is in; the page finds them by these names.
FIELDS = {
    "key": "key",
    "dataset": "dataset",
    "setting": "setting",
    "alpha": "alpha",
    "f": "byzantine",
    "strategy": "strategy",
    "aggregator": "aggregator",
    "attack": "attack",
    "seed": "seed",
    "workers": "workers",
    "accuracy": "accuracy",
    "dissimilarity": "dissimilarity_momenta",
    "wola": "wola",
    "ending": "ending",
}

#: What shares a file of curves.
CELL = ("dataset", "setting", "alpha", "byzantine", "strategy")

_PARTS = ("dataset", "aggregator", "attack")

#: So much of a key tells runs apart on a page.
KEY = 16

#: The ending of a run that has none because it failed.
FAILED = "failed"


def all_runs(runs: Runs) -> pl.DataFrame:
    """The runs that are done and those that failed, in one table."""
    failed = runs.failed.with_columns(ending=pl.lit(FAILED))
    return pl.concat([runs.table, failed]).sort(*CELL, "aggregator", "attack", "seed")


def rows(table: pl.DataFrame) -> Iterator[list[Any]]:
    """A list of values per run, in the order of `FIELDS`."""
    short = table.with_columns(
        pl.col("key").str.head(KEY), pl.col("accuracy", "dissimilarity_momenta").round_sig_figs(12)
    )
    return (list(row) for row in short.select(*FIELDS.values()).iter_rows())


def names(runs: Runs) -> dict[str, Any]:
    """How the page calls things, in what order they come, and what strategies set themselves.

    All parts of the page meet on it, so no two of them share a title.
    """
    orders = {axis: parts_in_order(values(runs, axis)) for axis in _PARTS}
    strategies = in_order(values(runs, "strategy"), STRATEGIES)
    return {
        "titles": short_names(text for order in orders.values() for text in order),
        "strategies": short_strategies(strategies, runs.strategies),
        "orders": {**orders, "strategy": in_order({*STRATEGIES, *strategies}, STRATEGIES)},
        "fixed": {
            name: [axis for axis in _PARTS if runs.fixes(name, axis)] for name in runs.strategies
        },
    }


def details(row: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """The command of a run, whose result it shows if not its own, and its curves."""
    made = {"command": command_line({name: row[name] for name in Scenario.model_fields})}
    if row["run"] != row["key"]:
        made["answered"] = row["run"][:KEY]
    return made if folder is None else {**made, **run_curves(folder, row["workers"])}
