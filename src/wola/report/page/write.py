"""Writes the page: one file, and beside it the curves if there are too many of them for one."""

import gzip
import re
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl

from wola.ground.files import write_whole
from wola.report.page.curves import SPANS, many_details
from wola.report.page.document import embedded, page_document
from wola.report.page.rows import CELL, FAILED, FIELDS, KEY, all_runs, details, names, rows
from wola.report.page.under_way import failure_reason
from wola.report.runs import Runs

#: Curves of more runs, or of more characters in all, go into files beside the page.
MOST_RUNS, MOST_CHARACTERS = 500, 4_500_000

#: Of many runs the curves are kept with fewer spans: so many in all, but this many of each.
ALL_SPANS, LEAST_SPANS = 300_000, 12

Details = dict[str, dict[str, Any]]


def write_page(runs: Runs, out: Path) -> Path:
    """Writes ``index.html`` into a folder, and the curves into ``curves/`` if they are many.

    The page needs no network and no server: it opens from the disk. Where it is, for the user.

    >>> from tempfile import TemporaryDirectory
    >>> from wola.report import read_runs
    >>> with TemporaryDirectory() as folder:
    ...     write_page(read_runs(), Path(folder)).name
    'index.html'
    """
    table = all_runs(runs)
    cells = table.partition_by(*CELL, maintain_order=True)
    data: dict[str, Any] = {"fields": list(FIELDS), "notes": list(runs.notes), **names(runs)}
    data["rows"] = list(rows(table))
    folder, kept = out / "curves", _few_enough(runs, table, cells)
    if kept is None:
        data["files"] = [file for file, cell in enumerate(cells, 1) for _ in range(len(cell))]
        _write_curves(runs, cells, folder, spans_of_each(len(table)))
        text = page_document(data, {}, place="beside")
    else:
        text = page_document(data, kept, place="inside")
    page = out / "index.html"
    write_whole(page, text.encode())
    _remove_curves(folder, above=0 if kept is not None else len(cells))
    return page


def spans_of_each(runs: int) -> int:
    """How many spans of steps the page keeps of a run, one of so many: the more runs, the fewer.

    >>> spans_of_each(5_000), spans_of_each(20_000)
    (60, 15)
    """
    return min(SPANS, max(LEAST_SPANS, ALL_SPANS // max(runs, 1)))


def cell_details(runs: Runs, cell: pl.DataFrame, spans: int = SPANS) -> Details:
    """What the page shows of each run of a table, by the beginning of its key."""
    found = list(cell.iter_rows(named=True))
    done = [row for row in found if row["ending"] != FAILED]
    folder = runs.stores[0].folder if len(runs.stores) == 1 else runs.folder
    read = many_details([(folder(row["run"]), row["workers"]) for row in done], spans)
    shown = dict(zip((row["key"] for row in done), read, strict=True))
    return {
        row["key"][:KEY]: details(row, shown.get(row["key"], {}), _reason(runs, row))
        for row in found
    }


def packed(value: Any) -> str:
    """A value as JSON, compressed, in base64: the same bytes for the same value.

    >>> len(packed({"steps": [0] * 10_000})) < 200
    True
    """
    return b64encode(gzip.compress(embedded(value).encode(), 6, mtime=0)).decode()


def _reason(runs: Runs, row: dict[str, Any]) -> str | None:
    return failure_reason(runs.stores, row["run"]) if row["ending"] == FAILED else None


def _few_enough(runs: Runs, table: pl.DataFrame, cells: list[pl.DataFrame]) -> Details | None:
    """The curves of all runs if they fit into one file; else None."""
    if len(table) > MOST_RUNS:
        return None
    made: Details = {}
    characters = 0
    for cell in cells:
        found = cell_details(runs, cell)
        characters += len(embedded(found))
        if characters > MOST_CHARACTERS:
            return None
        made |= found
    return made


def _write_curves(runs: Runs, cells: list[pl.DataFrame], folder: Path, spans: int) -> None:
    def write(file: int, cell: pl.DataFrame) -> None:
        text = f'wolaCurves({file},"{packed(cell_details(runs, cell, spans))}");\n'
        # Made again in no time after a power cut; forced to disk one by one they take long.
        write_whole(folder / f"{file:05d}.js", text.encode(), sync=False)

    # Reading, checksums and compression let another thread go on meanwhile.
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(write, count(1), cells):
            pass


def _remove_curves(folder: Path, *, above: int) -> None:
    """Takes away what an earlier page with more files has left."""
    found = folder.iterdir() if folder.is_dir() else ()
    for path in list(found):
        if re.fullmatch(r"\d{5}\.js", path.name) and int(path.stem) > above:
            path.unlink()
