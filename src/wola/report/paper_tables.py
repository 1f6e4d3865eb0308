"""The tables of a report by kind: averages as arranged, and what the paper prints beside them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial as with_options
from statistics import median
from types import MappingProxyType

import polars as pl

from wola.ground.names import nearest
from wola.report.arrangement import PAPER_COLUMNS, Arrangement, CannotArrange, arranged
from wola.report.averages import RANKS, averages, diverged, gaps, listed_averages, reading
from wola.report.axes import Axis
from wola.report.comparison.row_differences import row_differences
from wola.report.expected import COORDINATES
from wola.report.layout import Block, Table, number
from wola.report.matrix import matrix_tables
from wola.report.metrics import METRICS, metric_named
from wola.report.runs import Runs
from wola.report.scores import Summary, gains, ranked, scores
from wola.report.section import Section, sections

_STRATEGY = Axis("strategy", "strategy")


def gain(section: Section, *, metric: str = "accuracy") -> Iterator[Table]:
    """What WoLA strategies gain over the best other one of the column, over all and worst."""
    summaries: dict[str, Summary] = {"all attacks": "global"}
    if section.attacked:
        summaries["worst attack"] = "worst"
    found = {
        name: gains(
            scores(section.runs, metric=metric, summary=summary, partial=section.partial),
            metric=metric,
        )
        .rename({"gain": "mean"})
        .with_columns(sd=pl.lit(None, pl.Float64))
        for name, summary in summaries.items()
    }
    data = pl.concat(
        [cells.with_columns(summary=pl.lit(summaries[name])) for name, cells in found.items()]
    )
    if data.is_empty():
        return
    form = _paper_form(section)
    labels, known = form.labels(data), metric_named(metric)
    show = with_options(number, digits=known.digits, sign="+")
    points = " in points" if known.unit else ""
    yield Table(
        name=section.name("gain" if metric == "accuracy" else f"gain-{metric}"),
        title=section.title(f"{known.noun} gain{points} over the best strategy without WoLA"),
        columns=form.headings(labels),
        blocks=tuple(form.block(name, cells, labels, show) for name, cells in found.items()),
        notes=section.notes(
            *(f"{name}: {listed_averages(form, s)[0]}" for name, s in summaries.items()),
            "n/m: n of the m runs of the strategy and of those without WoLA are there",
            spread="difference of the means",
        ),
        reading=_gaining(data, known.digits),
        data=data.rename({"mean": "gain"}).drop("sd"),
    )


def full(section: Section, *, metric: str = "accuracy") -> Iterator[Table]:
    """Every attack and aggregator apart: a table per alpha, a block per attack."""
    if not section.attacked:
        return
    by, known = ("aggregator", "attack"), metric_named(metric)
    cells = scores(section.runs, metric=metric, by=by, partial=section.partial)
    cells = ranked(cells, metric=metric, by=by)
    columns = (Axis("aggregator", "aggregator"), Axis("byzantine", "byzantine"))
    form, attacks = Arrangement(section, _STRATEGY, columns), Axis("attack", "attack")
    show = with_options(number, digits=known.digits)
    names, word = form.names(attacks), "" if metric == "accuracy" else f"{metric}-"
    for alpha in cells["alpha"].unique().sort(descending=True):
        here = cells.filter(pl.col("alpha") == alpha)
        labels = form.labels(here)
        blocks: list[Block] = []
        for attack in attacks.ordered(here["attack"]):
            under = here.filter(pl.col("attack") == attack)
            blocks.append(form.block(names[attack], under, labels, show))
        yield Table(
            name=section.name(f"full-{word}alpha-{alpha:g}"),
            title=section.title(f"{known.title}, alpha = {alpha:g}"),
            columns=form.headings(labels),
            blocks=tuple(blocks),
            notes=section.notes(
                RANKS + " within an attack", *gaps(here, section, metric), *diverged(here)
            ),
            reading=reading(here, form, "attack"),
            data=here,
        )


# Kinds with rows and columns of their own.
_FIXED: Mapping[str, Callable[..., Iterable[Table]]] = MappingProxyType(
    {"gain": gain, "matrix": matrix_tables, "full": full}
)

#: The kinds of tables that a report writes; it prints all but the last three.
WRITTEN_KINDS = ("accuracy", "worst", "gain", "dissimilarity", "matrix", "differences", "full")

#: All kinds: a metric is a table of its averages, the others are of the metric asked for.
TABLE_KINDS = (*WRITTEN_KINDS, *(name for name in METRICS if name not in WRITTEN_KINDS))


def make_tables(
    runs: Runs,
    kinds: Iterable[str] = WRITTEN_KINDS,
    *,
    partial: bool = False,
    metric: str = "accuracy",
    rows: str | None = None,
    columns: Sequence[str] = (),
    baseline: str | None = None,
) -> list[Table]:
    """The tables of some kinds, for every dataset and setting; no worst case without attackers.

    `rows` and one or two `columns` arrange averages and differences; by default rows are what
    varies and columns alpha and f, see `arranged`. `metric` is what tables of no metric of their
    own show, and `baseline` the row that `differences` are to, by default the first.
    """
    kinds, forms = list(kinds), arranged(runs, rows, columns, partial=partial)
    if baseline is not None:
        _check_baseline(baseline, forms)
    makers: dict[str, Callable[[Arrangement], Iterable[Table]]] = {
        **{name: with_options(averages, metric=name) for name in METRICS},
        "worst": with_options(averages, metric=metric, summary="worst"),
        "differences": with_options(row_differences, metric=metric, baseline=baseline),
    }
    # Sections that axes have joined are of no use to tables with axes of their own.
    joined = any(axis.field not in COORDINATES for form in forms for axis in form.axes)
    made: list[Table] = []
    for form in forms:
        for kind in kinds:
            if kind in makers:
                made += makers[kind](form)
            elif not joined:
                made += _FIXED[kind](form.section, metric=metric)
    for section in sections(runs, partial=partial) if joined else ():
        for kind in kinds:
            if kind in _FIXED:
                made += _FIXED[kind](section, metric=metric)
    return made


def _check_baseline(baseline: str, forms: Iterable[Arrangement]) -> None:
    known = {name for form in forms for name in form.names(form.rows).values()}
    try:
        nearest(baseline, sorted(known))
    except ValueError as error:
        raise CannotArrange(f"baseline = {baseline!r}; {error}") from None


def _paper_form(section: Section) -> Arrangement:
    return Arrangement(section, _STRATEGY, tuple(Axis(name, name) for name in PAPER_COLUMNS))


def _gaining(cells: pl.DataFrame, digits: int) -> str:
    found = cells.filter(pl.col("complete"))["mean"].to_list()
    if not found:
        return "No gain has all its runs yet."
    low, middle, high = (f"{n:+.{digits}f}" for n in (min(found), median(found), max(found)))
    return (
        f"{sum(points > 0 for points in found)} of {len(found)} gains are above 0; they go from "
        f"{low} to {high} points, half of them are at least {middle}."
    )
