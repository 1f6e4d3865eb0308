"""Tables for the terminal."""

from collections.abc import Callable, Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table as Drawn
from rich.text import Text

from wola.ground.signs import plain
from wola.report.forms.marks import marked
from wola.report.layout import Cell, Table

_STYLES = {1: "bold yellow", 2: "bold blue", 3: "bold red"}

Words = Callable[[str], str]


def terminal(table: Table, console: Console) -> Group:
    """The table for a console: whole if it is wide enough, else a table per group of columns.

    A console that has no other signs gets ASCII ones.
    """
    words = plain if console.options.ascii_only else str
    whole = _drawn(table, words)
    fits = Measurement.get(console, console.options.update(max_width=10_000), whole).maximum
    parts = [whole] if fits <= console.width else [_drawn(part, words) for part in table.split()]
    return Group(*_page(table, parts, words))


def _page(table: Table, tables: list[Drawn], words: Words) -> Iterator[RenderableType]:
    yield Text(words(table.title), "bold")
    yield from tables
    yield Text(words(table.reading))
    for note in table.notes:
        yield Text(f"  {words(note).strip()}", "dim")


def _drawn(table: Table, words: Words) -> Drawn:
    drawn = Drawn(box=box.SIMPLE_HEAD, header_style="", padding=(0, 1), show_edge=False)
    drawn.add_column(Text(table.rows), no_wrap=True)
    last = None
    for over, name in table.columns:
        heading = f"{over if over != last else ''}\n{name}"
        drawn.add_column(Text(words(heading)), justify="right")
        last = over
    for block in table.blocks:
        if block.title:
            drawn.add_row(Text(words(block.title), "italic"))
        for name, row in block.rows.items():
            drawn.add_row(Text(words(name), "cyan"), *(_shown(cell, words) for cell in row))
        drawn.add_section()
    return drawn


def _shown(cell: Cell, words: Words) -> Text:
    worst = "bold red" if cell.worst else ""
    style = "dim" if cell.missing else _STYLES.get(cell.rank or 0, worst)
    return Text(words(marked(cell)), style)
