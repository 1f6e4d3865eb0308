"""The numbers of the tables: means over runs with their spread over seeds, gains and ranks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from types import MappingProxyType
from typing import Any, Literal

import polars as pl

from wola.report.names import in_order
from wola.report.runs import Runs
from wola.report.settings import TABLE_AXES
from wola.training import STRATEGIES

MetricName = Literal["accuracy", "dissimilarity"]
Summary = Literal["global", "worst"]


@dataclass(frozen=True)
class Metric:
    """A number of a run: its column, what it is called, printed digits, and which end is good."""

    column: str
    title: str
    digits: int
    lower_is_better: bool = False


METRICS: dict[str, Metric] = {
    "accuracy": Metric("accuracy", "accuracy in %", digits=1),
    "dissimilarity": Metric(
        "dissimilarity_momenta", "gradient dissimilarity", digits=2, lower_is_better=True
    ),
}

#: What a column of a table has in common; a place in it is a strategy.
COLUMN_AXES = ("dataset", "setting", "alpha", "byzantine")

_AVERAGED = ("aggregator", "attack", "seed")


def scores(
    runs: Runs,
    *,
    metric: MetricName = "accuracy",
    summary: Summary = "global",
    partial: bool = False,
    by: Sequence[str] = (),
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> pl.DataFrame:
    r"""Mean and spread of a metric, a row per dataset, setting, alpha, byzantine and strategy.

    With :math:`a_{gts}` the number of the run with aggregator g, attack t and seed s, the value of
    a seed is :math:`v_s = \frac{1}{GT} \sum_{g,t} a_{gts}`, or in the worst case
    :math:`v_s = \frac{1}{G} \sum_g a_{g\,t(g)\,s}` with t(g) the attack of the worst mean over
    seeds. The columns are `mean` of :math:`v_s` and `sd` (n - 1; null with one seed), `seeds`,
    `runs` that have the number, `expected` runs, `complete`, and `wola`, whether the loss is WoLA.
    Expected are all combinations
    of aggregators, attacks and seeds that were run or failed with the same dataset and setting
    (without Byzantine workers apart). `mean` and `sd` are null where runs are missing, unless
    `partial` asks for the mean over those that are there. `by` names axes to tell apart instead
    of averaging over them: "aggregator", "attack". `sizes` says how many aggregators, attacks or
    seeds belong to a mean where that is known, instead of how many were seen.

    >>> from wola.report.runs import read_runs
    >>> scores(read_runs()).columns[:5]
    ['dataset', 'setting', 'alpha', 'byzantine', 'strategy']
    """
    place = [*COLUMN_AXES, "strategy", *by]
    seen = _measured(runs, metric).group_by(place).agg(runs=pl.len())
    found = seed_values(runs, metric=metric, summary=summary, by=by)
    spread = found.group_by(place).agg(
        mean=pl.col("value").mean(), sd=pl.col("value").std(), seeds=pl.col("seed").n_unique()
    )
    cells = _expected(runs, by, sizes).join(seen, on=place, how="left")
    cells = cells.join(spread, on=place, how="left")
    cells = cells.with_columns(pl.col("runs", "seeds").fill_null(0))
    cells = cells.with_columns(complete=pl.col("runs") == pl.col("expected"))
    if not partial:
        cells = cells.with_columns(pl.when("complete").then(pl.col("mean", "sd")))
    order = pl.Enum(in_order(cells["strategy"], STRATEGIES))
    return cells.sort(
        *COLUMN_AXES, pl.col("strategy").cast(order), *by, descending=[c == "alpha" for c in place]
    ).select(*place, "mean", "sd", "seeds", "runs", "expected", "complete", "wola")


def seed_values(
    runs: Runs,
    *,
    metric: MetricName = "accuracy",
    summary: Summary = "global",
    by: Sequence[str] = (),
) -> pl.DataFrame:
    """The values of the single seeds that `scores` averages, in the columns `seed` and `value`."""
    table = _measured(runs, metric)
    place = [*COLUMN_AXES, "strategy", *by]
    if summary == "worst":
        table = _worst(table, metric)
    elif summary != "global":
        raise ValueError(f"summary = {summary!r}; allowed: 'global', 'worst'")
    return table.group_by(*place, "seed").agg(pl.col("value").mean()).sort(*place, "seed")


def gains(cells: pl.DataFrame) -> pl.DataFrame:
    """Accuracy of each WoLA strategy above the best other one of its column, from `scores`.

    `gain` is in points, from the means before rounding, and `over` names the other strategy; both
    are null while a number of the column that they need is missing. `runs` and `expected` count
    the runs of the strategy and of all the others together.

    >>> from wola.report.runs import read_runs
    >>> gains(scores(read_runs())).columns[5:]
    ['gain', 'over', 'seeds', 'runs', 'expected', 'complete']
    """
    known = pl.col("mean").is_not_null().all()
    best = (
        cells.filter(~pl.col("wola"))
        .group_by(COLUMN_AXES)
        .agg(
            pl.col("runs", "expected").sum().name.prefix("other_"),
            best=pl.when(known).then(pl.col("mean").max()),
            over=pl.when(known).then(pl.col("strategy").sort_by("mean").last()),
        )
    )
    counts = [pl.col(name) + pl.col(f"other_{name}") for name in ("runs", "expected")]
    return (
        cells.filter("wola")
        .join(best, on=COLUMN_AXES, maintain_order="left")
        .select(
            *COLUMN_AXES,
            "strategy",
            (pl.col("mean") - pl.col("best")).alias("gain"),
            pl.when(pl.col("mean").is_not_null()).then("over"),
            "seeds",
            *counts,
        )
        .with_columns(complete=pl.col("runs") == pl.col("expected"))
    )


def ranked(
    cells: pl.DataFrame, *, metric: MetricName = "accuracy", by: Sequence[str] = ()
) -> pl.DataFrame:
    """The cells with `rank`: 1 is the best of its column, equal printed numbers share a rank.

    The next number after a shared first is second, as in the paper. Cells that are not complete
    have no rank.

    >>> cells = pl.DataFrame(
    ...     {**dict.fromkeys(COLUMN_AXES, 1), "mean": [70.04, 69.96, 71.0, 1.0], "complete": True}
    ... )
    >>> ranked(cells)["rank"].to_list()
    [2, 2, 1, 3]
    """
    known = _metric(metric)
    shown = printed(cells["mean"], known.digits).alias("shown")
    counted = cells.with_columns(shown).with_columns(pl.when("complete").then("shown"))
    place = pl.col("shown").rank("dense", descending=not known.lower_is_better)
    return counted.with_columns(rank=place.over(*COLUMN_AXES, *by)).drop("shown")


def printed(numbers: pl.Series, digits: int) -> pl.Series:
    """Numbers as they are printed: rounded as Python formats them, which polars does not.

    >>> printed(pl.Series([0.25, 0.35, None]), 1).to_list()
    [0.2, 0.3, None]
    """
    rounded = [None if number is None else round(number, digits) for number in numbers]
    return pl.Series(numbers.name, rounded, pl.Float64)


def heading(metric: MetricName, summary: Summary) -> str:
    """What a table of this metric shows.

    >>> heading("accuracy", "worst")
    'accuracy in %, worst case'
    """
    return _metric(metric).title + (", worst case" if summary == "worst" else "")


def _metric(name: str) -> Metric:
    if name not in METRICS:
        raise ValueError(f"metric = {name!r}; allowed: {', '.join(METRICS)}")
    return METRICS[name]


def _measured(runs: Runs, metric: str) -> pl.DataFrame:
    value = pl.col(_metric(metric).column).alias("value")
    return runs.table.select(*TABLE_AXES, "setting", value).filter(pl.col("value").is_not_null())


def _worst(table: pl.DataFrame, metric: str) -> pl.DataFrame:
    """The runs under the attack that is worst for each strategy and aggregator."""
    defence = [*COLUMN_AXES, "strategy", "aggregator"]
    means = table.group_by(*defence, "attack").agg(pl.col("value").mean())
    means = means.sort("value", "attack", descending=[_metric(metric).lower_is_better, False])
    return table.join(means.unique(defence, keep="first"), on=[*defence, "attack"], how="semi")


def _expected(runs: Runs, by: Sequence[str], sizes: Mapping[str, int]) -> pl.DataFrame:
    """Every place that the values seen span, with the runs that belong there.

    What a strategy itself sets on an axis is no value of the axis for the others.
    """
    columns = [*TABLE_AXES, "setting", "wola"]
    seen = pl.concat([runs.table.select(columns), runs.failed.select(columns)])
    attacked = (pl.col("byzantine") > 0).alias("attacked")
    rows: list[tuple[Any, ...]] = []
    for (dataset, setting, _), some in seen.group_by("dataset", "setting", attacked):
        for (strategy,), own in some.group_by("strategy"):
            values = {axis: _values(runs, some, own, axis) for axis in _AVERAGED}
            counts = (sizes.get(axis) or len(values[axis]) for axis in _AVERAGED if axis not in by)
            number, wola = prod(counts), bool(own["wola"].any())
            spans = [some[axis].unique() for axis in ("alpha", "byzantine")]
            for place in product(*spans, [strategy], *(values[axis] for axis in by)):
                rows.append((dataset, setting, *place, number, wola))
    place = (*COLUMN_AXES, "strategy", *by)
    kinds: dict[str, Any] = {name: seen.schema[name] for name in place}
    kinds |= {"expected": pl.Int64, "wola": pl.Boolean}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _values(runs: Runs, some: pl.DataFrame, own: pl.DataFrame, axis: str) -> list[Any]:
    """The values of an axis that a strategy is expected to have been run with."""
    strategies = some["strategy"].unique()
    fixing = [name for name in strategies if runs.fixes(name, axis)]
    if own["strategy"][0] in fixing:
        return own[axis].unique().to_list()
    return some.filter(~pl.col("strategy").is_in(fixing))[axis].unique().to_list()
