"""The tables of a report, laid out as in the paper: strategies by alpha and f."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial as with_options
from statistics import median
from types import MappingProxyType

import polars as pl

from wola.report.layout import Block, Table, block, columns_of, headings, number
from wola.report.names import parts_in_order
from wola.report.runs import Runs
from wola.report.scores import (
    COLUMN_AXES,
    METRICS,
    MetricName,
    Summary,
    gains,
    heading,
    ranked,
    scores,
)
from wola.report.section import Section, sections

_RANKS = "¹ ² ³ and colours: first, second and third of a column; equal numbers share a place"


def averages(
    section: Section, *, metric: MetricName, summary: Summary = "global"
) -> Iterator[Table]:
    """A metric averaged over aggregators and attacks; in the worst case over aggregators."""
    known = METRICS[metric]
    cells = scores(section.runs, metric=metric, summary=summary, partial=section.partial)
    cells = ranked(cells, metric=metric)
    columns = columns_of(cells, "alpha")
    yield Table(
        name=section.name("worst" if summary == "worst" else metric),
        title=section.title(heading(metric, summary)),
        columns=headings(columns),
        blocks=(
            block(
                "",
                cells,
                columns,
                with_options(number, digits=known.digits),
                strategies=section.strategies,
            ),
        ),
        notes=section.notes(_averaged(section, summary), _RANKS, *_gaps(cells, section, metric)),
        reading=_ranking(cells, section),
        data=cells,
    )


def gain(section: Section) -> Iterator[Table]:
    """What WoLA strategies gain over the best other one of the column, over all and worst."""
    summaries: dict[str, Summary] = {"all attacks": "global"}
    if section.attacked:
        summaries["worst attack"] = "worst"
    found = {
        name: gains(scores(section.runs, summary=summary, partial=section.partial))
        .rename({"gain": "mean"})
        .with_columns(sd=pl.lit(None, pl.Float64))
        for name, summary in summaries.items()
    }
    data = pl.concat(
        [cells.with_columns(summary=pl.lit(summaries[name])) for name, cells in found.items()]
    )
    if data.is_empty():
        return
    columns = columns_of(data, "alpha")
    show = with_options(number, digits=METRICS["accuracy"].digits, sign="+")
    yield Table(
        name=section.name("gain"),
        title=section.title("accuracy gain in points over the best strategy without WoLA"),
        columns=headings(columns),
        blocks=tuple(
            block(name, cells, columns, show, strategies=section.strategies)
            for name, cells in found.items()
        ),
        notes=section.notes(
            *(f"{name}: {_averaged(section, summary)}" for name, summary in summaries.items()),
            "n/m: n of the m runs of the strategy and of those without WoLA are there",
            spread="difference of the means",
        ),
        reading=_gaining(data),
        data=data.rename({"mean": "gain"}).drop("sd"),
    )


def full(section: Section) -> Iterator[Table]:
    """Every attack and aggregator apart: a table per alpha, a block per attack."""
    by = ("aggregator", "attack")
    cells = scores(section.runs, by=by, partial=section.partial)
    cells = ranked(cells, by=by)
    show = with_options(number, digits=METRICS["accuracy"].digits)
    for alpha in cells["alpha"].unique().sort(descending=True):
        here = cells.filter(pl.col("alpha") == alpha)
        columns = columns_of(here, "aggregator")
        blocks: list[Block] = []
        for attack in parts_in_order(here["attack"]):
            under = here.filter(pl.col("attack") == attack)
            name, rows = section.shown["attack"][attack], section.strategies
            blocks.append(block(name, under, columns, show, strategies=rows, group="aggregator"))
        yield Table(
            name=section.name(f"full-alpha-{alpha:g}"),
            title=section.title(f"accuracy in %, alpha = {alpha:g}"),
            columns=headings(columns, section.shown["aggregator"]),
            blocks=tuple(blocks),
            notes=section.notes(_RANKS + " within an attack", *_gaps(here, section)),
            reading=_ranking(here, section, *by),
            data=here,
        )


#: The kinds of tables by name: what makes them of a section.
TABLE_KINDS: Mapping[str, Callable[[Section], Iterable[Table]]] = MappingProxyType(
    {
        "accuracy": with_options(averages, metric="accuracy"),
        "worst": with_options(averages, metric="accuracy", summary="worst"),
        "gain": gain,
        "dissimilarity": with_options(averages, metric="dissimilarity"),
        "full": full,
    }
)


def make_tables(
    runs: Runs, kinds: Iterable[str] = tuple(TABLE_KINDS), *, partial: bool = False
) -> list[Table]:
    """The tables of some kinds, for every dataset and setting; no worst case without attackers."""
    kinds = list(kinds)
    return [
        table
        for section in sections(runs, partial=partial)
        for kind in kinds
        if section.attacked or kind not in ("worst", "full")
        for table in TABLE_KINDS[kind](section)
    ]


def _ranking(cells: pl.DataFrame, section: Section, *by: str) -> str:
    column = [*COLUMN_AXES, *by]
    whole = cells.filter(pl.col("complete").all().over(column))
    if whole.is_empty():
        return "No column has all its runs yet, so nobody is first."
    first = whole.filter(pl.col("rank") == 1)
    best, times = Counter(first["strategy"]).most_common(1)[0]
    aligned, columns = first.filter("wola").unique(column), first.unique(column)
    return (
        f"{section.strategies[best]} is first in {times} of the {len(columns)} columns that have "
        f"all runs; a strategy with the WoLA loss is first in {len(aligned)} of them."
    )


def _gaining(cells: pl.DataFrame) -> str:
    found = cells.filter(pl.col("complete"))["mean"].to_list()
    if not found:
        return "No gain has all its runs yet."
    return (
        f"{sum(points > 0 for points in found)} of {len(found)} gains are above 0; they go from "
        f"{min(found):+.1f} to {max(found):+.1f} points, half of them are at least "
        f"{median(found):+.1f}."
    )


def _averaged(section: Section, summary: Summary) -> str:
    over = f"averaged over the aggregators {section.listed('aggregator')}"
    attacks = section.listed("attack")
    if summary == "worst":
        return f"{over}, each with the worst on average over seeds of the attacks {attacks}"
    return f"{over} and the attacks {attacks}"


def _gaps(cells: pl.DataFrame, section: Section, metric: str = "accuracy") -> Iterator[str]:
    lacking = cells.filter(~pl.col("complete"))
    if len(lacking):
        numbers = "marked [n/m]" if lacking["mean"].is_not_null().any() else "shown as n/m"
        yield (
            f"{len(lacking)} of {len(cells)} cells lack runs, {numbers}: n of m runs are there "
            "with a number; the places in their columns are among the others"
        )
    if empty := section.runs.table[METRICS[metric].column].null_count():
        words = "run ended before it had" if empty == 1 else "runs ended before they had"
        yield f"{empty} {words} a number, and count{'s' * (empty == 1)} as missing"
