"""The numbers of the tables: means over runs with their spread over seeds, gains and ranks."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import polars as pl

from wola.report.axes import Axis, with_axes
from wola.report.expected import APART, COORDINATES, expected_runs
from wola.report.metrics import metric_named
from wola.report.names import in_order
from wola.report.runs import Runs
from wola.training import STRATEGIES

Summary = Literal["global", "worst"]

#: What a column of a table has in common; a place in it is a strategy.
COLUMN_AXES = (*APART, "alpha", "byzantine")

#: How the ending of a run begins whose model was finite no more.
DIVERGED = "diverged"


def scores(
    runs: Runs,
    *,
    metric: str = "accuracy",
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
    `runs` that have the number, `diverged` ones among them, `expected` runs, `complete`, and
    `wola`, whether the loss is WoLA. Expected are all combinations
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
    cells = cell_scores(runs, place, metric=metric, summary=summary, partial=partial, sizes=sizes)
    order = pl.Enum(in_order(cells["strategy"], STRATEGIES))
    return cells.sort(
        *COLUMN_AXES, pl.col("strategy").cast(order), *by, descending=[c == "alpha" for c in place]
    )


def cell_scores(
    runs: Runs,
    place: Sequence[str],
    *,
    axes: Sequence[Axis] = (),
    metric: str = "accuracy",
    summary: Summary = "global",
    partial: bool = False,
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> pl.DataFrame:
    """The same for cells of any kind: `place` names the columns that tell them apart.

    Each is one of `APART` and `COORDINATES`, or the name of one of the `axes`.
    """
    expected = _counted(with_axes(expected_runs(runs, _free(axes)), axes), place, sizes)
    measured = _measured(runs, metric, axes)
    seen = measured.group_by(place).agg(runs=pl.len(), diverged=pl.col("diverged").sum())
    found = _seed_values(measured, place, metric, summary)
    spread = found.group_by(place).agg(
        mean=pl.col("value").mean(), sd=pl.col("value").std(), seeds=pl.col("seed").n_unique()
    )
    cells = expected.join(seen, on=place, how="left", nulls_equal=True)
    cells = cells.join(spread, on=place, how="left", nulls_equal=True)
    cells = cells.with_columns(pl.col("runs", "diverged", "seeds").fill_null(0))
    cells = cells.with_columns(complete=pl.col("runs") == pl.col("expected"))
    if not partial:
        cells = cells.with_columns(pl.when("complete").then(pl.col("mean", "sd")))
    numbers = ("mean", "sd", "seeds", "runs", "diverged", "expected", "complete", "wola")
    return cells.select(*place, *numbers)


def seed_values(
    runs: Runs,
    *,
    metric: str = "accuracy",
    summary: Summary = "global",
    by: Sequence[str] = (),
) -> pl.DataFrame:
    """The values of the single seeds that `scores` averages, in the columns `seed` and `value`."""
    place = [*COLUMN_AXES, "strategy", *by]
    found = cell_seed_values(runs, place, metric=metric, summary=summary)
    return found.sort(*place, "seed")


def cell_seed_values(
    runs: Runs,
    place: Sequence[str],
    *,
    axes: Sequence[Axis] = (),
    metric: str = "accuracy",
    summary: Summary = "global",
) -> pl.DataFrame:
    """The values of the single seeds that `cell_scores` averages, in no order."""
    return _seed_values(_measured(runs, metric, axes), place, metric, summary)


def gains(cells: pl.DataFrame, *, metric: str = "accuracy") -> pl.DataFrame:
    """How much better each WoLA strategy is than the best other one of its column, from `scores`.

    `gain` is from the means before rounding, positive where WoLA is better, and `over` names the
    other strategy; both are null while a number of the column that they need is missing. `runs` and
    `expected` count the runs of the strategy and of all the others together.

    >>> from wola.report.runs import read_runs
    >>> gains(scores(read_runs())).columns[5:]
    ['gain', 'over', 'seeds', 'runs', 'expected', 'complete']
    """
    known = pl.col("mean").is_not_null().all()
    sign = -1 if metric_named(metric).lower_is_better else 1
    best = (
        cells.filter(~pl.col("wola"))
        .group_by(COLUMN_AXES)
        .agg(
            pl.col("runs", "expected").sum().name.prefix("other_"),
            best=pl.when(known).then((sign * pl.col("mean")).max()),
            over=pl.when(known).then(pl.col("strategy").sort_by(sign * pl.col("mean")).last()),
        )
    )
    counts = [pl.col(name) + pl.col(f"other_{name}") for name in ("runs", "expected")]
    return (
        cells.filter("wola")
        .join(best, on=COLUMN_AXES, maintain_order="left")
        .select(
            *COLUMN_AXES,
            "strategy",
            (sign * pl.col("mean") - pl.col("best")).alias("gain"),
            pl.when(pl.col("mean").is_not_null()).then("over"),
            "seeds",
            *counts,
        )
        .with_columns(complete=pl.col("runs") == pl.col("expected"))
    )


def ranked(
    cells: pl.DataFrame,
    *,
    metric: str = "accuracy",
    by: Sequence[str] = (),
    column: Sequence[str] = COLUMN_AXES,
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
    known = metric_named(metric)
    shown = printed(cells["mean"], known.digits).alias("shown")
    counted = cells.with_columns(shown).with_columns(pl.when("complete").then("shown"))
    place = pl.col("shown").rank("dense", descending=not known.lower_is_better)
    return counted.with_columns(rank=place.over(*column, *by)).drop("shown")


def printed(numbers: pl.Series, digits: int) -> pl.Series:
    """Numbers as they are printed: rounded as Python formats them, which polars does not.

    >>> printed(pl.Series([0.25, 0.35, None]), 1).to_list()
    [0.2, 0.3, None]
    """
    rounded = [None if number is None else round(number, digits) for number in numbers]
    return pl.Series(numbers.name, rounded, pl.Float64)


def heading(metric: str, summary: Summary) -> str:
    """What a table of this metric shows.

    >>> heading("accuracy", "worst")
    'accuracy in %, worst case'
    """
    return metric_named(metric).title + (", worst case" if summary == "worst" else "")


def _measured(runs: Runs, metric: str, axes: Sequence[Axis]) -> pl.DataFrame:
    columns = dict.fromkeys([*APART, *COORDINATES, *_free(axes)])
    table = runs.table.select(
        *columns,
        value=pl.col(metric_named(metric).column),
        diverged=pl.col("ending").str.starts_with(DIVERGED),
    )
    return with_axes(table.filter(pl.col("value").is_not_null()), axes)


def _free(axes: Sequence[Axis]) -> list[str]:
    return [axis.field for axis in axes if axis.field not in COORDINATES]


def _counted(
    expected: pl.DataFrame, place: Sequence[str], sizes: Mapping[str, int]
) -> pl.DataFrame:
    """How many runs belong to each cell."""
    number = pl.len().cast(pl.Int64)
    for axis, size in sizes.items():
        number = number // pl.col(axis).n_unique() * size
    return expected.group_by(place).agg(expected=number.cast(pl.Int64), wola=pl.col("wola").any())


def _seed_values(
    measured: pl.DataFrame, place: Sequence[str], metric: str, summary: Summary
) -> pl.DataFrame:
    if summary == "worst":
        measured = _worst(measured, metric)
    elif summary != "global":
        raise ValueError(f"summary = {summary!r}; allowed: 'global', 'worst'")
    return measured.group_by(*dict.fromkeys([*place, "seed"])).agg(pl.col("value").mean())


def _worst(measured: pl.DataFrame, metric: str) -> pl.DataFrame:
    """The runs under the attack that is worst for each defence, such as strategy and aggregator."""
    other = ("attack", "seed", "value", "diverged")
    defence = [name for name in measured.columns if name not in other]
    means = measured.group_by(*defence, "attack").agg(pl.col("value").mean())
    lower = metric_named(metric).lower_is_better
    means = means.sort("value", "attack", descending=[lower, False])
    worst = means.unique(defence, keep="first")
    return measured.join(worst, on=[*defence, "attack"], how="semi", nulls_equal=True)
