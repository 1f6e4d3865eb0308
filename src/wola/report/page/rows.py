"""The rows behind the page's tables, and all it shows of one run when asked."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from wola.report.names import in_order, parts_in_order
from wola.report.page.command import command_line
from wola.report.page.glossary import glossary
from wola.report.runs import Runs, values
from wola.report.settings import TABLE_AXES, usual_fields
from wola.report.short_names import short_names, short_strategies
from wola.training import PARTS, STRATEGIES, Scenario

#: A row's values and the column each is in; the page finds them by these names. `more` holds the
#: other fields of the scenario where they are not the usual ones of the dataset.
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
    "final": "final_accuracy",
    "balanced": "balanced_accuracy",
    "macro-f1": "macro_f1",
    "worst-class": "worst_class",
    "dissimilarity": "dissimilarity_momenta",
    "cosine": "cosine",
    "wola": "wola",
    "more": "more",
    "ending": "ending",
}

#: What shares a file of curves.
CELL = ("dataset", "setting", "alpha", "byzantine", "strategy")

#: The fields that name parts, and the others that are no column of a row.
_PARTS = tuple(name for name in Scenario.model_fields if name in PARTS.kinds)
_MORE = tuple(name for name in Scenario.model_fields if name not in FIELDS.values())
_NUMBERS = ("accuracy", "final_accuracy", "dissimilarity_momenta", "cosine")
_OF_CLASSES = ("balanced_accuracy", "macro_f1", "worst_class")

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
        pl.col("key").str.head(KEY),
        pl.col(*_NUMBERS).round_sig_figs(12),
        pl.col(*_OF_CLASSES).round_sig_figs(6),
    )
    others = table.select("dataset", *_MORE).iter_rows()
    columns = [name for name in FIELDS.values() if name != "more"]
    place = list(FIELDS).index("more")
    for row, (dataset, *fields) in zip(short.select(columns).iter_rows(), others, strict=True):
        yield [*row[:place], _unusual(dataset, fields), *row[place:]]


def _unusual(dataset: str, fields: list[Any]) -> dict[str, Any]:
    usual = usual_fields(dataset)
    told = zip(_MORE, fields, strict=True)
    return {name: value for name, value in told if value != usual[name]}


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
            name: [field for field in fields if field not in ("alpha", "byzantine")]
            for name, fields in runs.strategies.items()
        },
        "usual": {text: _others_usual(text) for text in orders["dataset"]},
        "settingFields": [name for name in Scenario.model_fields if name not in TABLE_AXES],
        "glossary": glossary(orders, _strategy_fields(runs)),
    }


def _others_usual(dataset: str) -> dict[str, Any]:
    usual = usual_fields(dataset)
    return {name: usual[name] for name in _MORE}


def _strategy_fields(runs: Runs) -> dict[str, Mapping[str, Any]]:
    """The fields of every strategy: what its name stands for, or what its runs have."""
    fields = tuple(STRATEGIES["-"])
    both = pl.concat([frame.select("strategy", *fields) for frame in (runs.table, runs.failed)])
    spelt = {row.pop("strategy"): row for row in both.unique("strategy").iter_rows(named=True)}
    return {**spelt, **STRATEGIES, **runs.strategies}


def details(
    row: Mapping[str, Any], shown: Mapping[str, Any], reason: str | None = None
) -> dict[str, Any]:
    """The command of a run, whose result it shows if not its own, why it failed, what is `shown`.

    `shown` is what `many_details` has read of it.
    """
    made = {"command": command_line({name: row[name] for name in Scenario.model_fields})}
    if row["run"] != row["key"]:
        made["answered"] = row["run"][:KEY]
    if reason is not None:
        made["reason"] = reason
    return {**made, **shown}
