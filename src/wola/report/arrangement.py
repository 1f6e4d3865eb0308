"""How a table is arranged: which axes its rows and columns are, and what is averaged over."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import polars as pl

from wola.report.axes import Axis, axis_named, several, with_axes
from wola.report.expected import APART, COORDINATES, expected_runs
from wola.report.layout import Block, Cell
from wola.report.runs import Runs, values
from wola.report.scores import Summary, cell_scores, cell_seed_values
from wola.report.section import Section, sections

#: The axes of the paper's columns.
PAPER_COLUMNS = ("alpha", "byzantine")

# Rows if nobody says which: the first of these that varies within a section ...
_ROWS = ("strategy", "aggregator", "attack")
# ... or, if none does in any, the first of these that varies at all.
_ROWS_OVER_ALL = ("loss", "dataset")
# What nobody chooses, so that no value of it is a better one.
_GIVEN = ("attack", "alpha", "byzantine", "seed", "dataset", "setting", "partition", "workers")

Label = tuple[Any, ...]


class CannotArrange(ValueError):
    """Rows and columns that make no table; the message says what is allowed."""


@dataclass(frozen=True)
class Arrangement:
    """Runs of a section in rows of one axis and columns of one axis or two."""

    section: Section
    rows: Axis
    columns: tuple[Axis, ...]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of columns and rows."""
        return (*self.columns, self.rows)

    @property
    def column(self) -> list[str]:
        """What the cells of one column have in common."""
        free = {axis.field for axis in self.axes}
        return [*(name for name in APART if name not in free), *(a.name for a in self.columns)]

    @property
    def ranked(self) -> bool:
        """Whether a row is something one chooses, so that one of them may be called the best."""
        return self.rows.field not in _GIVEN

    def scores(self, metric: str, summary: Summary = "global") -> pl.DataFrame:
        """The cells as `wola.report.scores.cell_scores` gives them, in the order of the table."""
        runs, partial = self.section.runs, self.section.partial
        place = [*self.column, self.rows.name]
        cells = cell_scores(
            runs, place, axes=self.axes, metric=metric, summary=summary, partial=partial
        )
        return self.in_order(cells)

    def seed_values(self, metric: str) -> pl.DataFrame:
        """The value of every cell in each single seed: `seed` and `value`."""
        place = [*self.column, self.rows.name]
        return cell_seed_values(self.section.runs, place, axes=self.axes, metric=metric)

    def in_order(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Rows of data in the order of the table: column by column."""
        orders = [
            {value: place for place, value in enumerate(axis.ordered(cells[axis.name]))}
            for axis in self.axes
        ]
        places = cells.select(axis.name for axis in self.axes).rows()
        keys = [tuple(o[v] for o, v in zip(orders, row, strict=True)) for row in places]
        return cells[sorted(range(len(keys)), key=keys.__getitem__)]

    def labels(self, cells: pl.DataFrame) -> list[Label]:
        """The columns that some cells span, each by its values."""
        return list(product(*(axis.ordered(cells[axis.name]) for axis in self.columns)))

    def headings(self, labels: Sequence[Label]) -> tuple[tuple[str, str], ...]:
        """How the columns are headed: the group, and the column itself."""
        if len(self.columns) == 1:
            names = self.names(self.columns[0])
            return tuple((self.columns[0].title, names[value]) for (value,) in labels)
        over, under = (
            axis.headed(self._values(axis), self.section.runs.strategies) for axis in self.columns
        )
        return tuple((over[first], under[second]) for first, second in labels)

    def names(self, axis: Axis) -> dict[Any, str]:
        """How the values of an axis are called here."""
        return axis.shown(self._values(axis), self.section.runs.strategies)

    def block(
        self,
        heading: str,
        cells: pl.DataFrame,
        labels: Sequence[Label],
        show: Callable[[Mapping[str, Any]], Cell],
    ) -> Block:
        """The rows of the table, from data with a row per cell; `show` says what stands in one."""
        own, names = [axis.name for axis in self.columns], self.names(self.rows)
        places = {
            (row[self.rows.name], *(row[name] for name in own)): row
            for row in cells.iter_rows(named=True)
        }
        rows = {
            names[value]: tuple(
                show(places[value, *label]) if (value, *label) in places else Cell("")
                for label in labels
            )
            for value in self.rows.ordered(cells[self.rows.name])
        }
        return Block(heading, rows)

    def title(self, what: str, *unsaid: str) -> str:
        """A heading: what is shown, where alone, and what it is averaged over beside `unsaid`."""
        return self.section.title(", ".join(filter(None, [what, *self.place(*unsaid)])))

    def place(self, *unsaid: str) -> Iterator[str]:
        """The only alpha, f and strategy if no axis says them, and what is averaged over."""
        said = {*unsaid, *(axis.field for axis in self.axes)}
        for name in (*PAPER_COLUMNS, "strategy"):
            own = self._expected[name].unique().to_list()
            if len(own) == 1 and own != ["-"] and name not in said:
                yield Axis(name, name).headed(own, self.section.runs.strategies)[own[0]]
        yield self.averaged_over(*unsaid)

    def averaged_over(self, *unsaid: str) -> str:
        """What a number is averaged over, seeds aside, in words; nothing if over one run alone."""
        told = []
        for name, counts in self._averaged.items():
            least, most = min(counts), max(counts)
            if most > 1 and name not in unsaid:
                told.append((f"{least} to " if least < most else "") + several(name, most))
        return f"averaged over {', '.join(told)}" if told else ""

    def uneven_rows(self) -> list[str]:
        """Which rows are averaged over other things than others, in words."""
        told, names = [], self.names(self.rows)
        for name, counts in self._averaged.items():
            shown = Axis(name, name).shown(self._expected[name], self.section.runs.strategies)
            alike: dict[tuple[str, ...], list[Any]] = {}
            for (value,), some in self._expected.group_by(self.rows.name, maintain_order=True):
                over = tuple(sorted(shown[own] for own in some[name].unique()))
                alike.setdefault(over, []).append(value)
            if max(counts) > 1 and len(alike) > 1:
                words = [
                    f"{', '.join(names[value] for value in self.rows.ordered(some))}: "
                    f"{', '.join(over)}"
                    for over, some in sorted(alike.items())
                ]
                told.append(f"rows are over different values of {name}; {'; '.join(words)}")
        return told

    @cached_property
    def _expected(self) -> pl.DataFrame:
        free = [axis.field for axis in self.axes if axis.field not in COORDINATES]
        return with_axes(expected_runs(self.section.runs, free), self.axes)

    @cached_property
    def _averaged(self) -> dict[str, list[int]]:
        """How many values of each column but the seed the cells are averaged over."""
        place = [*self.column, self.rows.name]
        names = [n for n in self._expected.columns if n not in (*place, *APART, "seed", "wola")]
        counts = self._expected.group_by(place).agg(pl.col(names).n_unique())
        return {name: counts[name].to_list() for name in names if len(counts)}

    def _values(self, axis: Axis) -> list[Any]:
        return self._expected[axis.name].unique().to_list()


def arranged(
    runs: Runs,
    rows: str | None = None,
    columns: Sequence[str] = (),
    *,
    partial: bool = False,
) -> list[Arrangement]:
    """The runs as tables with the rows and columns of these names, by section.

    Without names the rows are what varies: strategies if there are two or more, else aggregators,
    attacks, losses, datasets; and the columns alpha and f, as in the paper, unless
    these have one value and attacks vary. `UnknownAxis` or `CannotArrange` if they make no table.
    """
    if len(columns) > 2:
        raise CannotArrange(f"columns = {','.join(columns)!r}; allowed: one field or two")
    across = [axis_named(name, runs) for name in columns]
    down = axis_named(rows, runs) if rows else None
    if down is None and not across and not any(map(_varying, sections(runs))):
        varying = [name for name in _ROWS_OVER_ALL if len(values(runs, name)) > 1]
        down = Axis(varying[0], varying[0]) if varying else None
    chosen = [*([down] if down else []), *across]
    if len({axis.name for axis in chosen}) < len(chosen):
        twice = ", ".join(axis.name for axis in chosen)
        raise CannotArrange(f"rows and columns = {twice}; allowed: each field once")
    made = []
    for section in sections(runs, partial=partial, axes=chosen):
        taken = [axis.name for axis in across]
        names = [n for n in _varying(section) if n not in taken] or [
            n for n in _ROWS if n not in taken
        ]
        own = down or Axis(names[0], names[0])
        made.append(Arrangement(section, own, tuple(across) or _columns(section, own)))
    return made


def _varying(section: Section) -> list[str]:
    return [name for name in _ROWS if len(values(section.runs, name)) > 1]


def _columns(section: Section, rows: Axis) -> tuple[Axis, ...]:
    names = [name for name in PAPER_COLUMNS if name != rows.name]
    others = [name for name in _varying(section) if name not in (rows.name, rows.field)]
    if len(names) == 1:
        names = [*others[:1], *names]
    elif (
        rows.name != "strategy"
        and "attack" in others
        and all(len(values(section.runs, name)) == 1 for name in names)
    ):
        names = ["attack"]
    return tuple(Axis(name, name) for name in names)
