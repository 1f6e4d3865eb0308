"""Comparisons: one's runs against the paper's numbers, or against the runs of another store."""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from wola.bench.presets import preset
from wola.report.agreement import sign_flip_p
from wola.report.comparison import COLUMN, comparison
from wola.report.paper import paper_scores
from wola.report.part import Part, parts
from wola.report.runs import AXES, Runs, values
from wola.report.scores import MetricName, Summary, scores, seed_values
from wola.report.table import Table

_VIEWS: tuple[tuple[MetricName, Summary], ...] = (
    ("accuracy", "global"),
    ("accuracy", "worst"),
    ("dissimilarity", "global"),
)
_PLACE = (*COLUMN, "strategy")


class NothingShared(ValueError):
    """Runs that have no cell in common with what they are compared with."""


def against_paper(runs: Runs, *, partial: bool = False) -> list[Table]:
    """The paper's numbers beside those of the runs, for every cell that both have.

    The data of a table have a row per cell: `mean` and `sd` of the runs, `other` and `other_sd` of
    the paper, `difference` of the two means as printed, `within` (the difference is at most the
    paper's sd) and `tau`, Kendall's over the strategies of the column. Only runs with the paper's
    aggregators and attacks count, and a mean is complete with all of these.
    """
    defences = {name: preset("paper/accuracy").axes[name] for name in ("aggregator", "attack")}
    sizes = {name: len(wanted) for name, wanted in defences.items()}
    tables = []
    for part in parts(runs.where(**defences), partial=partial):
        for metric, summary in _VIEWS:
            theirs = paper_scores().filter(metric=metric, summary=summary, dataset=part.dataset)
            theirs = theirs.select(*_PLACE, other="mean", other_sd="sd")
            ours = scores(part.runs, metric=metric, summary=summary, partial=partial, sizes=sizes)
            cells = ours.join(theirs, on=_PLACE, maintain_order="left")
            if len(cells):
                tables.append(comparison(part, metric, summary, cells, "the paper"))
    if not tables:
        raise NothingShared(
            "the paper prints no number for any cell of these runs; it has "
            + "; ".join(f"{axis} {_listed(paper_scores()[axis])}" for axis in ("dataset", *COLUMN))
        )
    return tables


def against_runs(
    runs: Runs, others: Runs, *, name: str = "the other runs", partial: bool = False
) -> list[Table]:
    """The numbers of other runs beside those of the runs, with a paired test over seeds.

    Both are cut to what they have in common on every axis, so that all means are over the same
    aggregators, attacks and seeds. A setting is compared with the same one of the other runs, or
    with their only one. The data are those of `against_paper`, and `p` of the sign-flip test on
    the differences of the seeds, for cells that are complete on both sides. `name` is what the
    other runs are called.
    """
    tables = []
    for part, other in _matched(runs, others, partial=partial):
        same = part.setting == other.setting
        called = name if same else f"{name} (setting: {other.setting or 'as in the paper'})"
        for metric, summary in _VIEWS:
            if part.attacked or summary == "global":
                cells = _beside(part, other, metric, summary)
                tables.append(comparison(part, metric, summary, cells, called))
    if not tables:
        both = (
            f"{_listed(r.table['dataset'])} ({_listed(r.table['setting'])})" for r in (runs, others)
        )
        raise NothingShared("the two have no cell in common: {} and {}".format(*both))
    return tables


def _matched(runs: Runs, others: Runs, *, partial: bool) -> Iterator[tuple[Part, Part]]:
    """Each part of the runs with its like of the others, both cut to what they share."""
    for part in parts(runs, partial=partial):
        likes = [
            like
            for like in parts(others, partial=partial)
            if (like.dataset, like.attacked) == (part.dataset, part.attacked)
        ]
        same = [like for like in likes if like.setting == part.setting] or likes
        if len(same) == 1:
            like = same[0]
            shared = {
                a: [v for v in values(part.runs, a) if v in values(like.runs, a)] for a in AXES
            }
            if all(shared.values()):
                yield (
                    replace(part, runs=part.runs.where(**shared)),
                    replace(like, runs=like.runs.where(**shared)),
                )


def _beside(part: Part, other: Part, metric: MetricName, summary: Summary) -> pl.DataFrame:
    ours, theirs = (
        scores(one.runs, metric=metric, summary=summary, partial=one.partial)
        for one in (part, other)
    )
    theirs = theirs.select(
        *_PLACE, other="mean", other_sd="sd", other_runs="runs", other_expected="expected"
    )
    cells = ours.join(theirs, on=_PLACE, maintain_order="left")
    cells = cells.join(_tested(part, other, metric, summary), on=_PLACE, how="left")
    whole = pl.col("complete") & (pl.col("other_runs") == pl.col("other_expected"))
    return cells.with_columns(p=pl.when(whole).then("p"))


def _tested(part: Part, other: Part, metric: MetricName, summary: Summary) -> pl.DataFrame:
    ours, theirs = (
        seed_values(one.runs, metric=metric, summary=summary).select(*_PLACE, "seed", "value")
        for one in (part, other)
    )
    pairs = ours.join(theirs, on=[*_PLACE, "seed"]).group_by(_PLACE)
    tested = [
        (*place, sign_flip_p((some["value"] - some["value_right"]).to_list()))
        for place, some in pairs
    ]
    kinds = {name: ours.schema[name] for name in _PLACE}
    return pl.DataFrame(tested, schema={**kinds, "p": pl.Float64}, orient="row")


def _listed(found: pl.Series) -> str:
    return ", ".join(map(str, found.unique().sort())) or "nothing"
