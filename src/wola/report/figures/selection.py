"""Which runs a figure is about, whether all of them are there, and what their files hold."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from wola.bench.run_files import metrics_in, summary_in
from wola.ground.names import counted
from wola.ground.sealed import Damaged
from wola.report.figures.strategy_styles import strategy_labels
from wola.report.runs import Runs
from wola.report.scores import scores
from wola.report.settings import SWEPT, TABLE_AXES
from wola.report.short_names import short_names

#: The number of attackers of the paper's curves.
_USUAL_F = 6


class CannotDraw(ValueError):
    """A figure for which runs are missing; the message says which."""


def attacked(runs: Runs) -> Runs:
    """The runs with Byzantine workers."""
    return runs.filtered(pl.col("byzantine") > 0)


def places(runs: Runs) -> list[dict[str, Any]]:
    """The datasets and settings with attackers, those left out that only a heat map is about."""
    table = attacked(runs).table
    swept: dict[tuple[str, str], set[tuple[int, float]]] = {}
    sides: dict[tuple[str, str], set[tuple[Any, ...]]] = {}
    columns = table.select(
        "dataset", "setting", "rest", *SWEPT, "byzantine", "aggregator", "attack"
    )
    rests: dict[tuple[str, str], str] = {}
    for dataset, setting, rest, batch, beta, *side in columns.unique().iter_rows():
        swept.setdefault((dataset, rest), set()).add((batch, beta))
        sides.setdefault((dataset, setting), set()).add(tuple(side))
        rests[dataset, setting] = rest
    return [
        {"dataset": dataset, "setting": setting}
        for dataset, setting in sorted(sides)
        if len(sides[dataset, setting]) > 1 or not is_sweep(swept[dataset, rests[dataset, setting]])
    ]


def is_sweep(points: Iterable[tuple[int, float]]) -> bool:
    """Whether pairs of batch and momentum span a map: two values of each, at least.

    >>> is_sweep([(32, 0.0), (64, 0.9)]), is_sweep([(32, 0.0), (32, 0.9)])
    (True, False)
    """
    found = list(points)
    return all(len({point[axis] for point in found}) > 1 for axis in (0, 1))


def hardest(runs: Runs) -> dict[str, Any]:
    """The smallest alpha, and with it the paper's six attackers, or the most there are."""
    table = attacked(runs).table
    if table.is_empty():
        raise CannotDraw("no run has Byzantine workers")
    alpha = table["alpha"].min()
    counts = table.filter(alpha=alpha)["byzantine"].unique().to_list()
    return {"alpha": alpha, "byzantine": usual_f(counts)}


def usual_f(counts: Sequence[int]) -> int:
    """Six attackers if there are such runs, as in the paper's curves, else the most there are.

    >>> usual_f([2, 6, 8]), usual_f([2, 4])
    (6, 4)
    """
    return _USUAL_F if _USUAL_F in counts else max(counts)


def runs_with(runs: Runs, **values: Any) -> Runs:
    """The runs whose columns have these values; `CannotDraw` if none has."""
    found = runs.where(**{name: [value] for name, value in values.items()})
    if found.table.is_empty():
        told = ", ".join(f"{name} {value}" for name, value in values.items() if value != "")
        raise CannotDraw(f"there are no runs with {told}")
    return found


def whole(runs: Runs, *, by: Sequence[str] = (), **values: Any) -> tuple[pl.DataFrame, list[str]]:
    """The runs with some values that belong to cells of which every run is there, and notes.

    A cell is a cell of a table, told apart further by the axes of `by`; its runs are counted as
    there. The notes tell which cells are left out, and how many of their runs there are.
    """
    cells = scores(runs, by=by).filter(**values)
    place = ["alpha", "byzantine", "strategy", *by]
    table = runs.table.filter(**values)
    kept = table.join(cells.filter("complete"), on=place, how="semi", maintain_order="left")
    by = [name for name in ("alpha", *by) if name not in values]
    note = left_out(cells, by, strategy_labels(runs))
    if kept.is_empty():
        raise CannotDraw(f"no cell has all its runs; {note}")
    return kept, [note] if note else []


def left_out(cells: pl.DataFrame, by: Sequence[str], labels: Mapping[str, str]) -> str:
    """Which cells of a table from `scores` are not complete, in words; nothing if all are.

    A cell is named by the label of its strategy and its values on the axes of `by`.
    """
    lacking = cells.filter(~pl.col("complete"))
    if lacking.is_empty():
        return ""
    if len(lacking) > 3:
        runs, expected = lacking["runs"].sum(), lacking["expected"].sum()
        return (
            f"left out as incomplete: {len(lacking)} of {len(cells)} cells, which have {runs} of "
            f"{expected} runs"
        )
    told = []
    for row in lacking.iter_rows(named=True):
        name = " ".join([labels[row["strategy"]], *(_value(a, row[a], cells) for a in by)])
        told.append(f"{name} ({row['runs']} of {row['expected']} runs)")
    return f"left out as incomplete: {', '.join(told)}"


def _value(axis: str, value: Any, cells: pl.DataFrame) -> str:
    plain = {"alpha": f"alpha {value}", "byzantine": f"f = {value}"}
    return plain[axis] if axis in plain else short_names(cells[axis])[value]


def steps_of(runs: Runs, table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The steps of the runs of a table: its axes, `step` and some columns of the metrics.

    Only the files of these runs are opened, each verified first, and only these columns read.
    """
    try:
        folders = [runs.folder(run) for run in table["run"].unique().sort()]
        found = pl.concat(metrics_in(folder, ["key", "step", *columns]) for folder in folders)
    except (OSError, PolarsError, Damaged) as error:
        told = str(error).splitlines()[0]
        raise CannotDraw(f"the metrics of a run cannot be read: {told}") from error
    return table.select(*TABLE_AXES, "run").join(found, left_on="run", right_on="key")


def summaries_of(runs: Runs, table: pl.DataFrame, field: str) -> dict[str, Any]:
    """A field of the summaries of the runs of a table, by run."""
    found = {}
    for run in table["run"].unique().sort():
        try:
            found[run] = summary_in(runs.folder(run))[field]
        except (OSError, ValueError, KeyError) as error:
            raise CannotDraw(f"the summary of run {run} cannot be read: {error!r}") from error
    return found


def described(dataset: str, setting: str) -> str:
    """The dataset's name, with what its settings differ in from the paper's.

    >>> described("mnist", ""), described("mnist", "steps 40")
    ('MNIST', 'MNIST (steps 40)')
    """
    name = short_names([dataset])[dataset]
    return f"{name} ({setting})" if setting else name


def seeds_of(table: pl.DataFrame) -> str:
    """How many seeds the datasets of a table have, in words.

    >>> seeds_of(pl.DataFrame({"dataset": ["a", "a", "b"], "seed": [1, 2, 1]}))
    '1 to 2 seeds'
    """
    counts = table.group_by("dataset").agg(pl.col("seed").n_unique())["seed"].to_list()
    fewest = f"{min(counts)} to " if min(counts) < max(counts) else ""
    return fewest + counted(max(counts), "seed")
