"""The layout of a table: what all its written forms are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import polars as pl

#: Stands after a number that runs are behind which diverged.
DIVERGED_SIGN = "‡"


@dataclass(frozen=True)
class Cell:
    """What stands in a cell, its rank in the column if it has one, and whether it is no number.

    `worst` marks the worst of a column.
    """

    text: str
    rank: int | None = None
    missing: bool = False
    worst: bool = False


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
    with the table are called, `rows` what stands above the names of the rows.
    """

    name: str
    title: str
    columns: tuple[tuple[str, str], ...]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...]
    reading: str
    data: pl.DataFrame
    rows: str = "strategy"

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


def number(row: Mapping[str, Any], *, digits: int, sign: str = "") -> Cell:
    """Mean (sd), or how many runs there are of how many; a partial mean has the count beside it.

    A number that diverged runs are behind has a sign.

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
    if row.get("diverged"):
        text += DIVERGED_SIGN
    return Cell(text, row.get("rank"))
