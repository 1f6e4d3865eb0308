"""One's runs beside the numbers that the paper prints."""

import polars as pl

from wola.bench.presets import preset
from wola.parts import part_name
from wola.report.comparison.differences import COMPARED, VIEWS, differences_table
from wola.report.comparison.paper_numbers import paper_numbers
from wola.report.layout import Table
from wola.report.metrics import metric_named
from wola.report.runs import Runs
from wola.report.scores import Summary, scores
from wola.report.section import Section, sections
from wola.report.short_names import short_names

# The aggregators and attacks that the paper's numbers are averaged over.
_DEFENCES = {name: preset("paper/accuracy").axes[name] for name in ("aggregator", "attack")}


def against_paper(runs: Runs, *, partial: bool = False) -> list[Table]:
    """The paper's numbers beside those of the runs, for every cell that both have.

    The data of a table have a row per cell: `mean` and `sd` of the runs, `other` and `other_sd` of
    the paper, `difference` of the two means as printed, `within` (the difference is at most the
    paper's sd) and `tau`, Kendall's over the strategies of the column. Only runs with the paper's
    aggregators, as its authors have them, and its attacks count; a mean is complete with all.
    Nothing if there is no such cell: `missing_from_paper` says which are missing.
    """
    tables = []
    for section in sections(_of_the_paper(runs), partial=partial):
        for metric, summary in VIEWS:
            cells = _beside(section, metric, summary)
            if len(cells):
                tables.append(differences_table(section, metric, summary, cells, "the paper"))
    return tables


def missing_from_paper(runs: Runs) -> list[str]:
    """Which cells of the paper's tables the runs lack, a line for each dataset and metric."""
    found = [
        _beside(section, metric, summary).with_columns(
            pl.lit(metric).alias("metric"), dataset=pl.lit(part_name(section.dataset or ""))
        )
        for section in sections(_of_the_paper(runs))
        for metric, summary in VIEWS
    ]
    columns = ("metric", "dataset", *COMPARED)
    wanted = paper_numbers().filter(summary="global").select(columns)
    whole = pl.concat([f.filter("complete").select(columns) for f in found] or [wanted.clear()])
    lacking = wanted.join(whole, on=columns, how="anti")
    lines = []
    for metric, dataset in wanted.select(columns[:2]).unique(maintain_order=True).iter_rows():
        here = {"metric": metric, "dataset": dataset}
        some, total = lacking.filter(**here), len(wanted.filter(**here))
        if len(some):
            what = f"{short_names([dataset])[dataset]}, {metric_named(metric).noun}"
            lines.append(f"{what}: {len(some)} of {total} cells lack runs" + _where(some, total))
    return lines


def _of_the_paper(runs: Runs) -> Runs:
    return runs.where(**_DEFENCES)


def _beside(section: Section, metric: str, summary: Summary) -> pl.DataFrame:
    """The cells of a section for which the paper prints a number, with that number."""
    sizes = {name: len(wanted) for name, wanted in _DEFENCES.items()}
    name = part_name(section.dataset or "")
    theirs = paper_numbers().filter(metric=metric, summary=summary, dataset=name)
    theirs = theirs.select(*COMPARED, other="mean", other_sd="sd")
    ours = scores(
        section.runs, metric=metric, summary=summary, partial=section.partial, sizes=sizes
    )
    return ours.join(theirs, on=COMPARED, maintain_order="left")


def _where(lacking: pl.DataFrame, total: int) -> str:
    """The columns that lack cells, unless all do."""
    if len(lacking) == total:
        return ""
    places = lacking.select("alpha", "byzantine").unique().sort("alpha", "byzantine")
    by_alpha = places.group_by("alpha", maintain_order=True).agg("byzantine").sort("alpha")
    told = [f"alpha {a:g}: f {', '.join(map(str, fs))}" for a, fs in by_alpha.iter_rows()]
    return f" ({'; '.join(told[::-1])})"
