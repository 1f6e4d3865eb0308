"""One's runs beside those of another store: the same cells, with a paired test over seeds."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from wola.report.comparison.agreement import mean_interval, sign_flip_p
from wola.report.comparison.differences import (
    COMPARED,
    VIEWS,
    NothingShared,
    differences_table,
    listed,
)
from wola.report.layout import Table
from wola.report.runs import Runs, values
from wola.report.scores import Summary, scores, seed_values
from wola.report.section import Section, sections
from wola.report.settings import TABLE_AXES


def against_runs(
    runs: Runs, others: Runs, *, name: str = "the other runs", partial: bool = False
) -> list[Table]:
    """The numbers of other runs beside those of the runs, with a paired test over seeds.

    Both are cut to what they have in common on every axis, so that all means are over the same
    aggregators, attacks and seeds; a strategy of one's own counts as shared if it sets the same
    fields in both. A setting is compared with the same one of the other runs, or
    with their only one. The data are those of `against_paper`, and `p` of the sign-flip test on
    the differences of the seeds, and `low` and `high` of the interval of their mean, for cells that
    are complete on both sides. `name` is what the
    other runs are called.
    """
    tables = []
    for section, other in _matched(runs, others, partial=partial):
        same = section.setting == other.setting
        called = name if same else f"{name} (setting: {other.setting or 'as in the paper'})"
        for metric, summary in VIEWS:
            if section.attacked or summary == "global":
                cells = _beside(section, other, metric, summary)
                tables.append(differences_table(section, metric, summary, cells, called))
    if not tables:
        both = (
            f"{listed(r.table['dataset'])} ({listed(r.table['setting'])})" for r in (runs, others)
        )
        raise NothingShared("the two have no cell in common: {} and {}".format(*both))
    return tables


def _matched(runs: Runs, others: Runs, *, partial: bool) -> Iterator[tuple[Section, Section]]:
    """Each section of the runs with its like of the others, both cut to what they share."""
    for section in sections(runs, partial=partial):
        likes = [
            like
            for like in sections(others, partial=partial)
            if (like.dataset, like.attacked) == (section.dataset, section.attacked)
        ]
        same = [like for like in likes if like.setting == section.setting] or likes
        if len(same) == 1:
            like = same[0]
            shared = {axis: _shared(section.runs, like.runs, axis) for axis in TABLE_AXES}
            if all(shared.values()):
                yield (
                    replace(section, runs=section.runs.where(**shared)),
                    replace(like, runs=like.runs.where(**shared)),
                )


def _shared(runs: Runs, others: Runs, axis: str) -> list[Any]:
    """The values of an axis that both have; a strategy of one's own if it sets the same in both."""
    both = [value for value in values(runs, axis) if value in values(others, axis)]
    if axis != "strategy":
        return both
    return [name for name in both if runs.strategies.get(name) == others.strategies.get(name)]


def _beside(section: Section, other: Section, metric: str, summary: Summary) -> pl.DataFrame:
    ours, theirs = (
        scores(one.runs, metric=metric, summary=summary, partial=one.partial)
        for one in (section, other)
    )
    theirs = theirs.select(
        *COMPARED, other="mean", other_sd="sd", other_runs="runs", other_expected="expected"
    )
    cells = ours.join(theirs, on=COMPARED, maintain_order="left")
    cells = cells.join(_tested(section, other, metric, summary), on=COMPARED, how="left")
    whole = pl.col("complete") & (pl.col("other_runs") == pl.col("other_expected"))
    return cells.with_columns(pl.when(whole).then(pl.col("p", "low", "high")))


def _tested(section: Section, other: Section, metric: str, summary: Summary) -> pl.DataFrame:
    ours, theirs = (
        seed_values(one.runs, metric=metric, summary=summary).select(*COMPARED, "seed", "value")
        for one in (section, other)
    )
    pairs = ours.join(theirs, on=[*COMPARED, "seed"]).group_by(COMPARED)
    tested = []
    for place, some in pairs:
        by_seed = some.sort("seed").select(pl.col("value") - pl.col("value_right"))["value"]
        differences = by_seed.to_list()
        low, high = mean_interval(differences) or (None, None)
        tested.append((*place, sign_flip_p(differences), low, high))
    kinds = {name: ours.schema[name] for name in COMPARED}
    numbers = dict.fromkeys(("p", "low", "high"), pl.Float64)
    return pl.DataFrame(tested, schema={**kinds, **numbers}, orient="row")
