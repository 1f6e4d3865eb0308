"""Tables for the terminal."""

from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table as Drawn
from rich.text import Text

from wola.report.forms.marks import marked
from wola.report.layout import Cell, Table

_STYLES = {1: "bold yellow", 2: "bold blue", 3: "bold red"}


def terminal(table: Table, console: Console) -> Group:
    """The table for a console: whole if it is wide enough, else a table per group of columns."""
    whole = _drawn(table)
    fits = Measurement.get(console, console.options.update(max_width=10_000), whole).maximum
    tables = [whole] if fits <= console.width else [_drawn(part) for part in table.split()]
    return Group(*_page(table, tables))


def _page(table: Table, tables: list[Drawn]) -> Iterator[RenderableType]:
    yield Text(table.title, "bold")
    yield from tables
    yield Text(table.reading)
    for note in table.notes:
        yield Text(f"  {note}", "dim")


def _drawn(table: Table) -> Drawn:
    drawn = Drawn(box=box.SIMPLE_HEAD, header_style="", padding=(0, 1), show_edge=False)
    drawn.add_column(Text("strategy"), no_wrap=True)
    last = None
    for over, name in table.columns:
        drawn.add_column(Text(f"{over if over != last else ''}\n{name}"), justify="right")
        last = over
    for block in table.blocks:
        if block.title:
            drawn.add_row(Text(block.title, "italic"))
        for strategy, row in block.rows.items():
            drawn.add_row(Text(strategy, "cyan"), *map(_shown, row))
        drawn.add_section()
    return drawn


def _shown(cell: Cell) -> Text:
    return Text(marked(cell), "dim" if cell.missing else _STYLES.get(cell.rank or 0, ""))
