"""One's runs beside the numbers that the paper prints."""

from wola.bench.presets import preset
from wola.parts import part_name
from wola.report.comparison.differences import (
    COMPARED,
    VIEWS,
    NothingShared,
    differences_table,
    listed,
)
from wola.report.comparison.paper_numbers import paper_numbers
from wola.report.layout import Table
from wola.report.runs import Runs
from wola.report.scores import scores
from wola.report.section import sections

_PRINTED = ("dataset", "alpha", "byzantine")


def against_paper(runs: Runs, *, partial: bool = False) -> list[Table]:
    """The paper's numbers beside those of the runs, for every cell that both have.

    The data of a table have a row per cell: `mean` and `sd` of the runs, `other` and `other_sd` of
    the paper, `difference` of the two means as printed, `within` (the difference is at most the
    paper's sd) and `tau`, Kendall's over the strategies of the column. Only runs with the paper's
    aggregators, as its authors have them, and its attacks count; a mean is complete with all.
    """
    defences = {name: preset("paper/accuracy").axes[name] for name in ("aggregator", "attack")}
    sizes = {name: len(wanted) for name, wanted in defences.items()}
    tables = []
    for section in sections(runs.where(**defences), partial=partial):
        for metric, summary in VIEWS:
            name = part_name(section.dataset)
            theirs = paper_numbers().filter(metric=metric, summary=summary, dataset=name)
            theirs = theirs.select(*COMPARED, other="mean", other_sd="sd")
            ours = scores(
                section.runs, metric=metric, summary=summary, partial=partial, sizes=sizes
            )
            cells = ours.join(theirs, on=COMPARED, maintain_order="left")
            if len(cells):
                tables.append(differences_table(section, metric, summary, cells, "the paper"))
    if not tables:
        raise NothingShared(
            "the paper prints no number for any cell of these runs; it has "
            + "; ".join(f"{axis} {listed(paper_numbers()[axis])}" for axis in _PRINTED)
        )
    return tables
