"""The table of a comparison: differences, what they are worth, and the order of strategies."""

from collections.abc import Callable, Mapping
from functools import partial as with_options
from statistics import median
from typing import Any

import polars as pl

from wola.report.arrangement import PAPER_COLUMNS, Arrangement, Label
from wola.report.axes import Axis
from wola.report.comparison.agreement import CONFIDENCE, kendall_tau
from wola.report.layout import Block, Cell, Table
from wola.report.metrics import metric_named
from wola.report.runs import values
from wola.report.scores import Summary, heading, printed
from wola.report.section import Section

#: What tells the cells of a comparison apart.
COMPARED = ("alpha", "byzantine", "strategy")

#: The metrics that are compared, each with its summary.
VIEWS: tuple[tuple[str, Summary], ...] = (
    ("accuracy", "global"),
    ("accuracy", "worst"),
    ("dissimilarity", "global"),
)

_COLUMN = COMPARED[:2]


class NothingShared(ValueError):
    """Runs that have no cell in common with what they are compared with."""


def differences_table(
    section: Section, metric: str, summary: Summary, cells: pl.DataFrame, other: str
) -> Table:
    """The table of cells with `mean`, and `other` and `other_sd` of what is called `other`.

    Cells with `p` get a block of it, and one of the interval from `low` to `high`. The data of the
    table have `difference`, `within` and `tau` as well.
    """
    digits = metric_named(metric).digits
    cells = _judged(cells, digits)
    columns = tuple(Axis(name, name) for name in PAPER_COLUMNS)
    form = Arrangement(section, Axis("strategy", "strategy"), columns)
    labels = form.labels(cells)
    blocks = [form.block("", cells, labels, with_options(_difference, digits=digits))]
    notes = [
        f"runs - {other} = difference; ✓ at most the standard deviation of {other}",
        "Kendall τ: how well the order of the strategies agrees, from -1 (reversed) to 1 (equal)",
    ]
    tested = "p" in cells
    if tested:
        interval = with_options(_interval, digits=digits)
        blocks.append(form.block(f"{100 * CONFIDENCE:.0f} % interval", cells, labels, interval))
        blocks.append(form.block("p (sign flips)", cells, labels, _p))
        least = 2.0 ** (1 - len(values(section.runs, "seed")))
        notes.append(
            f"{100 * CONFIDENCE:.0f} % interval: a t interval over seeds, of the mean difference "
            "before rounding"
        )
        notes.append(
            f"p: sign-flip test on the differences of the seeds; not below {least:.2g} with so few"
        )
    kind = "worst" if summary == "worst" else metric
    return Table(
        name=section.name(f"{'runs' if tested else 'paper'}-{kind}"),
        title=f"{section.title(heading(metric, summary))}, against {other}",
        columns=form.headings(labels),
        blocks=(*blocks, _column_block(cells, labels)),
        notes=section.notes(*notes, spread="means"),
        reading=_reading(cells, other),
        data=cells,
    )


def _judged(cells: pl.DataFrame, digits: int) -> pl.DataFrame:
    """With the difference as printed, whether it is within the other's sd, and the column's tau."""
    shown = [printed(cells[name], digits).alias(f"shown_{name}") for name in ("mean", "other")]
    difference = (pl.col("shown_mean") - pl.col("shown_other")).round(digits) + 0.0
    # Differences of decimal fractions miss the sd by rounding errors.
    slack = 10.0**-digits / 1000
    cells = cells.with_columns(shown).with_columns(difference=difference)
    cells = cells.with_columns(within=pl.col("difference").abs() <= pl.col("other_sd") + slack)
    taus = [
        (*column, kendall_tau(some["shown_mean"].to_list(), some["shown_other"].to_list()))
        for column, some in cells.drop_nulls("difference").group_by(_COLUMN)
    ]
    kinds = {name: cells.schema[name] for name in _COLUMN}
    tau = pl.DataFrame(taus, schema={**kinds, "tau": pl.Float64}, orient="row")
    cells = cells.join(tau, on=_COLUMN, how="left", maintain_order="left")
    return cells.drop("shown_mean", "shown_other")


def _difference(row: Mapping[str, Any], *, digits: int) -> Cell:
    counts = [(row["runs"], row["expected"]), (row.get("other_runs"), row.get("other_expected"))]
    lacking = [f"[{n}/{m}]" if n != m else "" for n, m in counts]
    if row["difference"] is None:
        means = [None if m is None else f"{m:.{digits}f}" for m in (row["mean"], row["other"])]
        first, second = (m or gap.strip("[]") for m, gap in zip(means, lacking, strict=True))
        return Cell(f"{first}; {second}", missing=True)
    text = f"{row['mean']:.{digits}f}{lacking[0]} - {row['other']:.{digits}f}{lacking[1]}"
    return Cell(f"{text} = {row['difference']:+.{digits}f}" + " ✓" * bool(row["within"]))


def _interval(row: Mapping[str, Any], *, digits: int) -> Cell:
    if row["low"] is None:
        return Cell("", missing=True)
    return Cell("[{}, {}]".format(*(f"{row[end]:+.{digits}f}" for end in ("low", "high"))))


def _p(row: Mapping[str, Any]) -> Cell:
    return Cell("", missing=True) if row["p"] is None else Cell(f"{row['p']:.3g}")


def _column_block(cells: pl.DataFrame, columns: list[Label]) -> Block:
    by_column = dict(iter(cells.drop_nulls("difference").group_by(_COLUMN)))

    def row(show: Callable[[pl.DataFrame], str]) -> tuple[Cell, ...]:
        return tuple(Cell(show(by_column[c]) if c in by_column else "") for c in columns)

    def tau(some: pl.DataFrame) -> str:
        return "" if some["tau"][0] is None else f"{some['tau'][0]:.2f}"

    rows = {"Kendall τ": row(tau), "✓": row(lambda some: f"{some['within'].sum()} of {len(some)}")}
    return Block("the column", rows)


def _reading(cells: pl.DataFrame, other: str) -> str:
    both = cells.drop_nulls("difference")
    if both.is_empty():
        return "No cell has all its runs on both sides yet."
    taus = both.unique(_COLUMN)["tau"].drop_nulls().to_list()
    order = (
        f"; over {len(taus)} columns the median Kendall τ of the order is {median(taus):.2f}"
        if taus
        else ""
    )
    middle = median(map(abs, both["difference"]))
    return (
        f"{both['within'].sum()} of {len(both)} cells differ from {other} by at most its standard "
        f"deviation, half of them by at most {middle:.3g}{order}."
    )


def listed(found: pl.Series) -> str:
    """The values of a column in one line.

    >>> listed(pl.Series(["b", "a", "b"]))
    'a, b'
    """
    return ", ".join(map(str, found.unique().sort())) or "nothing"
