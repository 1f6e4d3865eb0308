"""Which runs belong to the tables of some runs, whether they were made or not."""

from collections.abc import Sequence

import polars as pl

from wola.report.runs import Runs
from wola.report.settings import TABLE_AXES

#: Runs that differ in these never share a number, unless a table has them as rows or columns.
APART = ("dataset", "setting")

#: What tells runs of one dataset and setting apart.
COORDINATES = TABLE_AXES[1:]


def expected_runs(runs: Runs, free: Sequence[str] = ()) -> pl.DataFrame:
    """A row for each combination of the values seen, with `wola`: whether the loss is WoLA.

    Combined are the values of `COORDINATES` and of the `free` columns that were run or failed with
    the same dataset and setting, unless these are free; without Byzantine workers apart. What a
    strategy itself sets on an axis is no value of the axis for the others.

    >>> from wola.report.runs import read_runs
    >>> expected_runs(read_runs()).columns
    ['dataset', 'setting', 'strategy', 'alpha', 'byzantine', 'aggregator', 'attack', 'seed', 'wola']
    """
    columns = list(dict.fromkeys([*APART, *COORDINATES, *free, "wola"]))
    seen = pl.concat([runs.table.select(columns), runs.failed.select(columns)])
    apart = [name for name in APART if name not in free]
    axes = [name for name in columns if name not in (*apart, "strategy", "wola")]
    attacked = (pl.col("byzantine") > 0).alias("attacked")
    order = [*apart, "strategy", *axes, "wola"]
    made = [seen.select(order).clear()]
    for _, some in seen.group_by(*apart, attacked):
        for _, own in some.group_by("strategy"):
            whole = own.select(*apart, "strategy", wola=pl.col("wola").any()).head(1)
            for axis in axes:
                values = _values(runs, some, own, axis).unique().to_frame()
                whole = whole.join(values, how="cross")
            made.append(whole.select(order))
    return pl.concat(made)


def _values(runs: Runs, some: pl.DataFrame, own: pl.DataFrame, axis: str) -> pl.Series:
    """The values of an axis that a strategy is expected to have been run with."""
    fixing = [name for name in some["strategy"].unique() if runs.fixes(name, axis)]
    if own["strategy"][0] in fixing:
        return own[axis]
    return some.filter(~pl.col("strategy").is_in(fixing))[axis]
