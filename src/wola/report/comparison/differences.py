"""The table of a comparison: differences, what they are worth, and the order of strategies."""

from collections.abc import Callable, Mapping
from functools import partial as with_options
from statistics import median
from typing import Any

import polars as pl

from wola.report.comparison.agreement import kendall_tau
from wola.report.layout import Block, Cell, Table, block, columns_of, headings
from wola.report.runs import values
from wola.report.scores import METRICS, MetricName, Summary, heading, printed
from wola.report.section import Section

#: What tells the cells of a comparison apart.
COMPARED = ("alpha", "byzantine", "strategy")

#: The metrics that are compared, each with its summary.
VIEWS: tuple[tuple[MetricName, Summary], ...] = (
    ("accuracy", "global"),
    ("accuracy", "worst"),
    ("dissimilarity", "global"),
)

_COLUMN = COMPARED[:2]


class NothingShared(ValueError):
    """Runs that have no cell in common with what they are compared with."""


def differences_table(
    section: Section, metric: MetricName, summary: Summary, cells: pl.DataFrame, other: str
) -> Table:
    """The table of cells with `mean`, and `other` and `other_sd` of what is called `other`.

    Cells with `p` get a block of it. The data of the table have `difference`, `within` and `tau`
    as well.
    """
    digits = METRICS[metric].digits
    cells = _judged(cells, digits)
    columns = columns_of(cells, "alpha")
    show = with_options(_difference, digits=digits)
    blocks = [block("", cells, columns, show, strategies=section.strategies)]
    notes = [
        f"runs - {other} = difference; ✓ at most the standard deviation of {other}",
        "Kendall τ: how well the order of the strategies agrees, from -1 (reversed) to 1 (equal)",
    ]
    tested = "p" in cells
    if tested:
        blocks.append(block("p (sign flips)", cells, columns, _p, strategies=section.strategies))
        least = 2.0 ** (1 - len(values(section.runs, "seed")))
        notes.append(
            f"p: sign-flip test on the differences of the seeds; not below {least:.2g} with so few"
        )
    kind = "worst" if summary == "worst" else metric
    return Table(
        name=section.name(f"{'runs' if tested else 'paper'}-{kind}"),
        title=f"{section.title(heading(metric, summary))}, against {other}",
        columns=headings(columns),
        blocks=(*blocks, _column_block(cells, columns)),
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


def _p(row: Mapping[str, Any]) -> Cell:
    return Cell("", missing=True) if row["p"] is None else Cell(f"{row['p']:.3g}")


def _column_block(cells: pl.DataFrame, columns: list[tuple[Any, Any]]) -> Block:
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
