"""Differences between the rows of a table, paired by seed, with an interval for each."""

from collections.abc import Iterator, Mapping
from functools import partial as with_options
from typing import Any

import polars as pl

from wola.report.arrangement import Arrangement
from wola.report.averages import listed_averages
from wola.report.comparison.agreement import CONFIDENCE, mean_interval
from wola.report.layout import Cell, Table
from wola.report.metrics import Metric, metric_named

BETTER, WORSE, OPEN = "better", "worse", ""


def row_differences(
    arrangement: Arrangement, *, metric: str, baseline: str | None = None
) -> Iterator[Table]:
    r"""Each row minus the baseline, which is called `baseline`, or is the first row.

    The difference of a seed is the mean over attacks and rules, the same on both sides:
    :math:`d_s = \frac{1}{GT} \sum_{g,t} (a_{gts} - b_{gts})`. The seeds are what is independent:
    runs of one seed share their data, their partition and their first model. So the interval is
    the t interval of the mean of the :math:`d_s`, over seeds alone. `verdict` says "better" or
    "worse" only where it excludes 0. A cell has a number where both sides have all their runs.
    Nothing if the baseline is no row here, or alone, or if rows or columns are seeds.
    """
    names = arrangement.names(arrangement.rows)
    cells = arrangement.scores(metric)
    order = arrangement.rows.ordered(cells[arrangement.rows.name])
    base = [value for value in order if names[value] == (baseline or names[order[0]])]
    if not base or len(order) < 2 or any(axis.name == "seed" for axis in arrangement.axes):
        return
    data = _compared(arrangement, metric, cells, base[0])
    section, known = arrangement.section, metric_named(metric)
    labels, name = arrangement.labels(data), names[base[0]]
    word = "" if metric == "accuracy" else f"{metric}-"
    axis = "" if arrangement.rows.name == "strategy" else f"{arrangement.rows.name}-"
    yield Table(
        name=section.name(f"differences-{word}{axis.replace('_', '-')}".rstrip("-")),
        title=arrangement.title(f"{known.title}, difference to {name}"),
        columns=arrangement.headings(labels),
        blocks=(arrangement.block("", data, labels, with_options(_shown, digits=known.digits)),),
        notes=section.notes(
            *listed_averages(arrangement),
            *arrangement.uneven_rows(),
            *_explained(arrangement, known),
            spread=f"difference [{100 * CONFIDENCE:.0f} % interval]",
        ),
        reading=_reading(arrangement, data, name),
        data=data,
        rows=arrangement.rows.title,
    )


def _compared(
    arrangement: Arrangement, metric: str, cells: pl.DataFrame, base: Any
) -> pl.DataFrame:
    """The cells of all other rows with `difference`, `low`, `high` and `verdict`."""
    rows, column = arrangement.rows.name, arrangement.column
    own = pl.col(rows).eq_missing(pl.lit(base, cells.schema[rows]))
    numbers = ("mean", "runs", "expected", "complete")
    theirs = cells.filter(own).select(*column, **{f"base_{n}": pl.col(n) for n in numbers})
    data = cells.filter(~own).join(
        theirs, on=column, how="left", nulls_equal=True, maintain_order="left"
    )
    values = arrangement.seed_values(metric)
    paired = values.filter(~own).join(
        values.filter(own).drop(rows), on=[*column, "seed"], suffix="_base", nulls_equal=True
    )
    differences = paired.group_by(*column, rows).agg(
        by_seed=(pl.col("value") - pl.col("value_base")).sort_by("seed")
    )
    data = data.join(
        differences, on=[*column, rows], how="left", nulls_equal=True, maintain_order="left"
    )
    whole = pl.col("complete") & pl.col("base_complete")
    data = data.with_columns(difference=pl.when(whole).then(pl.col("by_seed").list.mean()))
    lower = metric_named(metric).lower_is_better
    ends = [
        None if difference is None else mean_interval(by_seed)
        for difference, by_seed in data.select("difference", "by_seed").rows()
    ]
    return data.drop("by_seed").with_columns(
        pl.Series("low", [end and end[0] for end in ends], pl.Float64),
        pl.Series("high", [end and end[1] for end in ends], pl.Float64),
        pl.Series("verdict", [_verdict(end, lower) for end in ends], pl.String),
    )


def _verdict(ends: tuple[float, float] | None, lower_is_better: bool) -> str:
    if ends is None or ends[0] <= 0 <= ends[1]:
        return OPEN
    return BETTER if (ends[0] > 0) != lower_is_better else WORSE


def _shown(row: Mapping[str, Any], *, digits: int) -> Cell:
    if row["difference"] is None:
        sides = (("runs", "expected"), ("base_runs", "base_expected"))
        return Cell("; ".join(f"{row[n]}/{row[m]}" for n, m in sides), missing=True)
    text = f"{_signed(row['difference'], digits)}"
    if row["low"] is not None:
        text += f" [{_signed(row['low'], digits)}, {_signed(row['high'], digits)}]"
    return Cell(f"{text} {row['verdict']}".rstrip())


def _signed(value: float, digits: int) -> str:
    # A rounded 0 has no sign of its own.
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def _explained(arrangement: Arrangement, known: Metric) -> Iterator[str]:
    good = "below" if known.lower_is_better else "above"
    yield (
        f"t interval over seeds of the differences, each the mean over the same attacks and rules; "
        f"better: the whole interval is {good} 0"
    )
    if arrangement.section.runs.table["seed"].n_unique() < 2:
        yield "one seed has no interval, so nothing is called better"


def _reading(arrangement: Arrangement, data: pl.DataFrame, base: str) -> str:
    known = data.drop_nulls("difference")
    if known.is_empty():
        return "No cell has all its runs on both sides yet."
    rows, names, told = arrangement.rows, arrangement.names(arrangement.rows), []
    for value in rows.ordered(known[rows.name]):
        own = known.filter(pl.col(rows.name).eq_missing(pl.lit(value, data.schema[rows.name])))
        counts = {word: len(own.filter(verdict=word)) for word in (BETTER, WORSE, OPEN)}
        told.append(
            f"{names[value]} in {counts[BETTER]} of {len(own)} columns (worse in {counts[WORSE]})"
        )
    return f"Better than {base}, by intervals that exclude 0: {', '.join(told)}."
