"""The layout of a table: what all its written forms are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any

import polars as pl

from wola.report.names import in_order, parts_in_order
from wola.training import STRATEGIES

Label = tuple[Any, Any]


@dataclass(frozen=True)
class Cell:
    """What stands in a cell, its rank in the column if it has one, and whether it is no number."""

    text: str
    rank: int | None = None
    missing: bool = False


@dataclass(frozen=True)
class Block:
    """Rows under a common heading, which may be empty; a cell per column of the table."""

    title: str
    rows: Mapping[str, tuple[Cell, ...]]


@dataclass(frozen=True, eq=False)
class Table:
    """Blocks of rows over grouped columns, with a title and notes.

    `columns` holds for every column the heading of its group and its own. `reading` says in plain
    words what one sees. `data` are the numbers unrounded, a row per cell; `name` is what files
    with the table are called.
    """

    name: str
    title: str
    columns: tuple[tuple[str, str], ...]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...]
    reading: str
    data: pl.DataFrame

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The headings over the columns, and how many columns each stands over."""
        return [(name, len(list(some))) for name, some in groupby(c[0] for c in self.columns)]

    def split(self) -> list[Table]:
        """The same, a table per group of columns."""
        made, start = [], 0
        for _, width in self.groups:
            here = slice(start, start + width)
            blocks = tuple(
                Block(b.title, {name: row[here] for name, row in b.rows.items()})
                for b in self.blocks
            )
            made.append(replace(self, columns=self.columns[here], blocks=blocks))
            start += width
        return made


def columns_of(data: pl.DataFrame, group: str) -> list[Label]:
    """The columns that some data span: the values of `group`, and of f below each.

    >>> columns_of(pl.DataFrame({"alpha": [0.3, 3.0], "byzantine": [2, 4]}), "alpha")
    [(3.0, 2), (3.0, 4), (0.3, 2), (0.3, 4)]
    """
    found = data[group].unique()
    over = found.sort(descending=True) if group == "alpha" else parts_in_order(found)
    return [(value, f) for value in over for f in data["byzantine"].unique().sort()]


def headings(
    columns: Iterable[Label], shown: Mapping[str, str] = MappingProxyType({})
) -> tuple[tuple[str, str], ...]:
    """How columns are headed; `shown` says how the parts among them are called.

    >>> headings([(0.3, 2), ("median", 4)], {"median": "CWMed"})
    (('alpha = 0.3', 'f = 2'), ('CWMed', 'f = 4'))
    """
    return tuple(
        (shown[over] if isinstance(over, str) else f"alpha = {over:g}", f"f = {f}")
        for over, f in columns
    )


def block(
    heading: str,
    data: pl.DataFrame,
    columns: Iterable[Label],
    show: Callable[[Mapping[str, Any]], Cell],
    *,
    strategies: Mapping[str, str],
    group: str = "alpha",
) -> Block:
    """A row per strategy, from data with a row per cell.

    `show` says what stands in a cell, `strategies` how the strategies are called.
    """
    places = {(r["strategy"], r[group], r["byzantine"]): r for r in data.iter_rows(named=True)}
    rows = {
        strategies[strategy]: tuple(
            show(places[strategy, *label]) if (strategy, *label) in places else Cell("")
            for label in columns
        )
        for strategy in in_order(data["strategy"], STRATEGIES)
    }
    return Block(heading, rows)


def number(row: Mapping[str, Any], *, digits: int, sign: str = "") -> Cell:
    """Mean (sd), or how many runs there are of how many; a partial mean has the count beside it.

    >>> number({"mean": None, "sd": None, "runs": 2, "expected": 60}, digits=1).text
    '2/60'
    >>> number({"mean": 77.123, "sd": 0.71, "runs": 9, "expected": 60}, digits=1).text
    '77.1 (0.7) [9/60]'
    """
    count = f"{row['runs']}/{row['expected']}"
    if row["mean"] is None:
        return Cell(count, missing=True)
    text = f"{row['mean']:{sign}.{digits}f}"
    if row["sd"] is not None:
        text += f" ({row['sd']:.{digits}f})"
    if row["runs"] < row["expected"]:
        text += f" [{count}]"
    return Cell(text, row.get("rank"))
