"""Tables of a metric averaged over what is on no axis, with rows and columns of one's choice."""

from collections import Counter
from collections.abc import Iterator
from functools import partial as with_options

import polars as pl

from wola.report.arrangement import Arrangement
from wola.report.layout import DIVERGED_SIGN, Table, number
from wola.report.metrics import metric_named
from wola.report.scores import Summary, heading, ranked
from wola.report.section import Section

RANKS = "¹ ² ³ and colours: first, second and third of a column; equal numbers share a place"


def averages(
    arrangement: Arrangement, *, metric: str, summary: Summary = "global"
) -> Iterator[Table]:
    """The mean of a metric in every cell; in the worst case under the worst attack of each defence.

    There is no worst case where attacks are on an axis, or where nobody attacks.
    """
    section, worst = arrangement.section, summary == "worst"
    on_axis = any(axis.field == "attack" for axis in arrangement.axes)
    if worst and (on_axis or not section.attacked):
        return
    cells = arrangement.scores(metric, summary)
    if arrangement.ranked:
        cells = ranked(cells, metric=metric, column=arrangement.column)
    labels = arrangement.labels(cells)
    show = with_options(number, digits=metric_named(metric).digits)
    yield Table(
        name=section.name("-".join(_words(arrangement, metric, summary))),
        title=arrangement.title(heading(metric, summary), *(["attack"] if worst else [])),
        columns=arrangement.headings(labels),
        blocks=(arrangement.block("", cells, labels, show),),
        notes=section.notes(
            *listed_averages(arrangement, summary),
            *arrangement.uneven_rows(),
            *([RANKS] if arrangement.ranked else []),
            *gaps(cells, section, metric),
            *diverged(cells),
        ),
        reading=reading(cells, arrangement) if arrangement.ranked else _range(cells, arrangement),
        data=cells,
        rows=arrangement.rows.title,
    )


def listed_averages(arrangement: Arrangement, summary: Summary = "global") -> list[str]:
    """What is averaged over by name: the aggregators and attacks that are on no axis."""
    section, fields = arrangement.section, {axis.field for axis in arrangement.axes}
    parts = [
        f"the {name}s {section.listed(name)}" for name in ("aggregator",) if name not in fields
    ]
    attacks = f"attacks {section.listed('attack')}" if "attack" not in fields else ""
    if summary == "worst":
        over = f"averaged over {parts[0]}, each" if parts else "each"
        return [f"{over} with the worst on average over seeds of the {attacks}"]
    parts += [f"the {attacks}"] if attacks else []
    return [f"averaged over {' and '.join(parts)}"] if parts else []


def gaps(cells: pl.DataFrame, section: Section, metric: str) -> Iterator[str]:
    """Which cells lack runs, and which runs lack the number."""
    lacking = cells.filter(~pl.col("complete"))
    if len(lacking):
        numbers = "marked [n/m]" if lacking["mean"].is_not_null().any() else "shown as n/m"
        yield (
            f"{len(lacking)} of {len(cells)} cells lack runs, {numbers}: n of m runs are there "
            "with a number; the places in their columns are among the others"
        )
    known = metric_named(metric)
    if empty := section.runs.table[known.column].null_count():
        words = "run has" if empty == 1 else "runs have"
        yield (
            f"{empty} {words} no {known.noun} ({known.lacking}), and count{'s' * (empty == 1)} as "
            "missing"
        )


def diverged(cells: pl.DataFrame) -> Iterator[str]:
    """What the sign of diverged runs means, if there are any."""
    if count := cells["diverged"].sum():
        words = "1 run diverged" if count == 1 else f"{count} runs diverged"
        yield (
            f"{DIVERGED_SIGN} {words}: tests after the end count with the last finite model, so "
            "that no mean is shorter"
        )


def reading(cells: pl.DataFrame, arrangement: Arrangement, *by: str) -> str:
    """Who is first, and how often; of strategies also how often one with the WoLA loss is."""
    column = [*arrangement.column, *by]
    whole = cells.filter(pl.col("complete").all().over(column))
    if whole.is_empty():
        return "No column has all its runs yet, so nobody is first."
    rows = arrangement.rows
    first = whole.filter(pl.col("rank") == 1)
    best, times = Counter(first[rows.name]).most_common(1)[0]
    columns = len(first.unique(column))
    told = (
        f"{arrangement.names(rows)[best]} is first in {times} of the {columns} columns that have "
        "all runs"
    )
    if rows.name != "strategy":
        return f"{told}."
    aligned = len(first.filter("wola").unique(column))
    return f"{told}; a strategy with the WoLA loss is first in {aligned} of them."


def _range(cells: pl.DataFrame, arrangement: Arrangement) -> str:
    whole = cells.filter("complete").drop_nulls("mean").sort("mean", maintain_order=True)
    if whole.is_empty():
        return "No cell has all its runs yet."
    names = arrangement.names(arrangement.rows)
    low, high = whole.row(0, named=True), whole.row(-1, named=True)
    ends = [f"{row['mean']:.3g} ({names[row[arrangement.rows.name]]})" for row in (low, high)]
    return f"The numbers go from {ends[0]} to {ends[1]}."


def _words(arrangement: Arrangement, metric: str, summary: Summary) -> Iterator[str]:
    """The name of the table: the metric, and its axes if they are not the paper's."""
    if summary == "worst":
        yield "worst"
    if summary == "global" or metric != "accuracy":
        yield metric
    names = [axis.name.replace("_", "-") for axis in (arrangement.rows, *arrangement.columns)]
    if names != ["strategy", "alpha", "byzantine"]:
        yield f"{names[0]}-by-{'-'.join(names[1:])}"
