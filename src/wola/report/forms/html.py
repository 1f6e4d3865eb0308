"""Tables as HTML: one to be put into any page, or a page with them all."""

from collections.abc import Iterable
from html import escape

from wola.report.forms.marks import marked
from wola.report.layout import Cell, Table

# The colours are those of the paper, darkened until they can be read as text on white.
_STYLE = """
body { font: 14px sans-serif; margin: 2em; }
table { border-collapse: collapse; margin-bottom: 3em; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: bold; padding-bottom: 0.5em; }
small { font-weight: normal; }
thead { border-top: 2px solid; border-bottom: 1px solid; }
tbody { border-bottom: 1px solid; }
th { text-align: left; font-weight: normal; }
th, td { padding: 0.15em 0.6em; white-space: nowrap; }
td, thead tr + tr th { text-align: right; }
.first, .second, .third { font-weight: bold; }
.first { color: #8a6700; }
.second { color: #0463ad; }
.third { color: #bf1d35; }
.missing { color: #666; }
.worst { color: #bf1d35; font-weight: bold; }
"""


def html(table: Table) -> str:
    """A table element with caption; cells have classes: first, second, third, missing, worst.

    Signs beyond ASCII are written as references, so that it reads right in a page of any encoding.
    """
    groups = "".join(
        f'<th scope="colgroup" colspan="{width}">{escape(name)}</th>'
        for name, width in table.groups
    )
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for _, name in table.columns)
    bodies = "".join(
        "<tbody>"
        + (
            f'<tr><th scope="rowgroup" colspan="{len(table.columns) + 1}">{escape(block.title)}'
            "</th></tr>\n"
            if block.title
            else ""
        )
        + "".join(
            f'<tr><th scope="row">{escape(name)}</th>{"".join(map(_cell, row))}</tr>\n'
            for name, row in block.rows.items()
        )
        + "</tbody>\n"
        for block in table.blocks
    )
    notes = "<br>".join(map(escape, (table.reading, *table.notes)))
    text = (
        f"<table>\n<caption>{escape(table.title)}<br><small>{notes}</small></caption>\n"
        f'<thead><tr><th scope="col" rowspan="2">{escape(table.rows)}</th>{groups}</tr>\n'
        f"<tr>{heads}</tr></thead>\n{bodies}</table>\n"
    )
    return text.encode("ascii", "xmlcharrefreplace").decode()


def html_document(tables: Iterable[Table]) -> str:
    """A whole page with the tables."""
    body = "".join(map(html, tables))
    head = f"<meta charset='utf-8'><title>Tables</title><style>{_STYLE}</style>"
    return f"<!doctype html>\n<html lang='en'><head>{head}</head>\n<body>\n{body}</body></html>\n"


def _cell(cell: Cell) -> str:
    other = "missing" if cell.missing else "worst" if cell.worst else ""
    kind = {1: "first", 2: "second", 3: "third"}.get(cell.rank or 0, other)
    chosen = f' class="{kind}"' if kind else ""
    return f"<td{chosen}>{escape(marked(cell))}</td>"
