"""The written forms of tables, by the ending of their files."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from wola.report.forms import html, latex
from wola.report.forms.csv import csv
from wola.report.forms.markdown import markdown
from wola.report.forms.terminal import terminal
from wola.report.layout import Table

#: What writes one table.
TABLE_FORMS: Mapping[str, Callable[[Table], str]] = MappingProxyType(
    {"md": markdown, "csv": csv, "tex": latex.latex, "html": html.html}
)

#: What writes many into one document; CSV has no such thing.
DOCUMENTS: Mapping[str, Callable[[Iterable[Table]], str]] = MappingProxyType(
    {
        "md": lambda tables: "\n".join(map(markdown, tables)),
        "tex": latex.latex_document,
        "html": html.html_document,
    }
)

__all__ = ["DOCUMENTS", "TABLE_FORMS", "terminal"]
