"""Tables as Markdown."""

from collections.abc import Iterable

from wola.report.forms.marks import marked
from wola.report.layout import Cell, Table


def markdown(table: Table) -> str:
    """A heading, a pipe table and the notes; the first three of a column are bold and numbered."""
    heads = (f"{over}, {name}" for over, name in table.columns)
    lines = [_line([table.rows, *heads]), _line(["---", *["---:"] * len(table.columns)])]
    for block in table.blocks:
        if block.title:
            lines.append(_line([f"*{block.title}*", *[""] * len(table.columns)]))
        lines += [_line([name, *map(_shown, row)]) for name, row in block.rows.items()]
    notes = "".join(f"- {_escaped(note)}\n" for note in table.notes)
    return (
        f"### {_escaped(table.title)}\n\n"
        + "\n".join(lines)
        + f"\n\n{_escaped(table.reading)}\n\n{notes}"
    )


def _shown(cell: Cell) -> str:
    return f"**{marked(cell)}**" if cell.rank in (1, 2, 3) or cell.worst else cell.text


def _line(words: Iterable[str]) -> str:
    return "| " + " | ".join(word.replace("|", "\\|") for word in words) + " |"


def _escaped(text: str) -> str:
    return text.replace("*", "\\*").replace("_", "\\_")
