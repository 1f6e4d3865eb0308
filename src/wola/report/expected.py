"""Which runs belong to the tables of some runs, whether they were made or not."""

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import polars as pl

from wola.report.runs import Runs
from wola.report.settings import TABLE_AXES

#: Runs that differ in these never share a number, unless a table has them as rows or columns.
APART = ("dataset", "setting")

#: What tells runs of one dataset and setting apart.
COORDINATES = TABLE_AXES[1:]


_Known = dict[tuple[str, ...], pl.DataFrame]

#: The tables of one report ask for the same runs again and again.
_known: WeakKeyDictionary[Runs, _Known] = WeakKeyDictionary()


def expected_runs(runs: Runs, free: Sequence[str] = ()) -> pl.DataFrame:
    """A row for each combination of the values seen, with `wola`: whether the loss is WoLA.

    Combined are the values of `COORDINATES` and of the `free` columns that were run or failed with
    the same dataset and setting, unless these are free; without Byzantine workers apart. What a
    strategy itself sets on an axis is no value of the axis for the others.

    >>> from wola.report.runs import read_runs
    >>> expected_runs(read_runs()).columns
    ['dataset', 'setting', 'strategy', 'alpha', 'byzantine', 'aggregator', 'attack', 'seed', 'wola']
    """
    known = _known.setdefault(runs, {})
    if (asked := tuple(free)) not in known:
        known[asked] = _expected_runs(runs, free)
    return known[asked]


def _expected_runs(runs: Runs, free: Sequence[str]) -> pl.DataFrame:
    columns = list(dict.fromkeys([*APART, *COORDINATES, *free, "wola"]))
    seen = pl.concat([runs.table.select(columns), runs.failed.select(columns)])
    apart = [name for name in APART if name not in free]
    axes = [name for name in columns if name not in (*apart, "strategy", "wola")]
    attacked = (pl.col("byzantine") > 0).alias("attacked")
    order = [*apart, "strategy", *axes, "wola"]
    made = [seen.select(order).clear()]
    for _, some in seen.group_by(*apart, attacked):
        shared = some.select(apart).head(1)
        wola = dict(some.group_by("strategy").agg(pl.col("wola").any()).iter_rows())
        values = {axis: _values(runs, some, axis) for axis in axes}
        for strategy, aligned in wola.items():
            whole = pl.select(strategy=pl.lit(strategy), wola=pl.lit(aligned)).lazy()
            whole = whole.join(shared.lazy(), how="cross") if apart else whole
            for axis in axes:
                own = pl.Series(axis, values[axis][strategy], seen.schema[axis]).to_frame()
                whole = whole.join(own.lazy(), how="cross")
            made.append(whole.select(order).collect())
    return pl.concat(made)


def _values(runs: Runs, some: pl.DataFrame, axis: str) -> dict[str, list[Any]]:
    """The values of an axis that each strategy is expected to have been run with."""
    own: dict[str, list[Any]] = {}
    for strategy, value in some.select("strategy", axis).unique().iter_rows():
        own.setdefault(strategy, []).append(value)
    free = [name for name in own if not runs.fixes(name, axis)]
    shared = list(dict.fromkeys(value for name in free for value in own[name]))
    return {name: shared if name in free else values for name, values in own.items()}
