"""Tables into files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from wola.ground.files import write_whole
from wola.report.forms import DOCUMENTS, TABLE_FORMS
from wola.report.layout import Table


def write_tables(
    tables: Sequence[Table], folder: Path, forms: Iterable[str] = tuple(TABLE_FORMS)
) -> list[Path]:
    """Writes a file per table and form, and for each form that has documents ``all`` of them.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_tables([], Path(folder))]
    ['all.md', 'all.tex', 'all.html']
    """
    texts: dict[Path, str] = {}
    for form in forms:
        texts |= {folder / f"{table.name}.{form}": TABLE_FORMS[form](table) for table in tables}
        if form in DOCUMENTS:
            texts[folder / f"all.{form}"] = DOCUMENTS[form](tables)
    for path, text in texts.items():
        write_whole(path, text.encode())
    return list(texts)
