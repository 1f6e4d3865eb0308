"""The written forms: each is read back, and says what the table says."""

import io
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from tests.report.invented import AXIS_VALUES, Place, invented, scattered
from wola.report.comparison import against_paper, against_runs
from wola.report.forms import DOCUMENTS, TABLE_FORMS, terminal
from wola.report.forms.latex import PREAMBLE, escape, latex, latex_document
from wola.report.layout import Block, Cell, Table
from wola.report.paper_tables import make_tables
from wola.report.table_files import write_tables


def lost(place: Place) -> bool:
    return (place["alpha"], place["strategy"], place["seed"]) == (3.0, "NNM", 2)


def all_tables() -> list[Table]:
    """Tables of every kind, with gaps, partial means, and names that every form must escape."""
    strange = "model C:\\50%_of|<b>&{#1}~^"
    runs = invented(scattered, failed=lost, setting=strange)
    paper = invented(scattered, failed=lost, dataset=["fashion-mnist"])
    return [
        *make_tables(runs),
        *make_tables(runs, ["accuracy"], partial=True),
        *against_paper(paper),
        *against_runs(runs, invented(scattered, seed=[1, 2]), name="../other_store"),
    ]


TABLES = all_tables()

ORDER = {name: place + 1 for place, name in enumerate(AXIS_VALUES["strategy"])}


def shown(table: Table) -> list[list[str]]:
    return [
        [name, *(cell.text for cell in row)]
        for block in table.blocks
        for name, row in block.rows.items()
    ]


def plain(text: str) -> str:
    return re.sub("[¹²³▼*]", "", text).strip()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name[:24])
def test_markdown_has_a_cell_for_every_cell(table: Table) -> None:
    lines = [line for line in TABLE_FORMS["md"](table).splitlines() if line.startswith("|")]
    cells = [[plain(cell) for cell in line.strip("|").split("|")] for line in lines]
    assert {len(row) for row in cells} == {len(table.columns) + 1}
    headings = {block.title for block in table.blocks}
    assert [row for row in cells[2:] if row[0] not in headings] == shown(table)


def test_markdown_numbers_the_first_three() -> None:
    runs = invented(lambda place: 10.0 * ORDER[place["strategy"]])
    (table,) = make_tables(runs, ["accuracy"])
    text = TABLE_FORMS["md"](table)
    for mean, mark in (("40.0", "¹"), ("30.0", "²"), ("20.0", "³")):
        assert f"**{mean} (0.0){mark}**" in text
    assert "| - | 10.0 (0.0) |" in text


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name[:24])
def test_csv_holds_the_numbers_unrounded(table: Table) -> None:
    read = pl.read_csv(io.StringIO(TABLE_FORMS["csv"](table)), schema=table.data.schema)
    for name in ("mean", "gain", "difference", "p", "tau"):
        if name in table.data.columns:
            assert read[name].to_list() == table.data[name].to_list()
    assert len(read) == len(table.data)
    assert {"runs", "expected"} <= set(read.columns)


class Reader(HTMLParser):
    """Cells of the rows of a page; an end tag must close what was opened last."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.classes: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("br", "meta"):
            self.open.append(tag)
        self.classes += [value or "" for name, value in attrs if name == "class"]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += plain(data)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name[:24])
def test_html_is_well_formed_and_has_every_cell(table: Table) -> None:
    text = TABLE_FORMS["html"](table)
    read = Reader(text)
    width = len(table.columns) + 1
    assert [row for row in read.rows[2:] if len(row) == width] == shown(table)
    assert text.isascii()
    assert "<b>" not in text


def test_html_tells_ranks_and_gaps_by_class() -> None:
    found = Reader(TABLE_FORMS["html"](TABLES[0])).classes
    assert set(found) == {"first", "second", "third", "missing"}


def braces_left_open(text: str) -> int:
    depth = 0
    for sign in re.sub(r"\\[\\{}%]", "", text):
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    return depth


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name[:24])
def test_latex_is_balanced_and_every_row_has_all_columns(table: Table) -> None:
    text = latex(table)
    assert text.isascii()
    assert braces_left_open(text) == 0
    opened = re.findall(r"\\(begin|end)\{(\S+?)\}", text)
    inside = [name for _, name in opened]
    assert [what for what, _ in opened] == ["begin", "begin", "end", "end"]
    assert inside == inside[::-1]
    rows = re.findall(r"(?m)^(?!\\)(.*) \\\\$", text)
    assert len(rows) == 2 + len(shown(table)) + sum(bool(b.title) for b in table.blocks)
    for row in rows:
        spans = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", row))
        ampersands = len(re.findall(r"(?<!\\)&", row))
        assert ampersands + spans == len(table.columns)
    for command in set(re.findall(r"\\(wola\w+)", text)):
        assert f"\\newcommand{{\\{command}}}" in PREAMBLE


def test_latex_marks_places_and_gaps() -> None:
    text = latex(TABLES[0])
    for command in ("wolafirst", "wolasecond", "wolathird", "wolamissing"):
        assert re.search(rf"\\{command}\{{\d", text)


def test_latex_sets_negative_numbers_with_a_minus_and_blows_no_table_up() -> None:
    row = {"WoLA": (Cell("-0.4 (0.1)"),)}
    text = latex(replace(TABLES[0], columns=(("", "f = 2"),), blocks=(Block("", row),)))
    assert "WoLA & $-$0.4 (0.1)" in text
    assert "$f$ = 2" in text
    assert r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}" in text


def test_latex_escapes_what_it_would_take_for_commands() -> None:
    assert escape("50% & _{#} $~^\\") == r"50\% \& \_\{\#\} \$$\sim$$\wedge$$\backslash$"
    assert escape("alpha = 3, alphabet") == r"$\alpha$ = 3, alphabet"


def test_the_latex_document_compiles(tmp_path: Path) -> None:
    compiler = shutil.which("pdflatex")
    if compiler is None:
        pytest.skip("there is no pdflatex here; the document is only parsed")
    (tmp_path / "all.tex").write_text(latex_document(TABLES), encoding="utf-8")
    words = [compiler, "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "all.log").read_text(encoding="latin-1")
    assert f"({len(TABLES)} pages" in log
    assert "Overfull" not in log


def drawn(table: Table, *, width: int, colour: bool = False) -> str:
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
    )
    console.print(terminal(table, console))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_wide_terminal_has_the_table_whole_and_a_narrow_one_in_parts() -> None:
    table = TABLES[0]
    assert drawn(table, width=200).count("\n strategy ") == 1
    parts = drawn(table, width=60)
    assert parts.count("\n strategy ") == 2
    assert max(map(len, parts.splitlines())) <= 60
    for row in shown(table):
        assert all(text in parts for text in row)


def test_a_terminal_shows_title_reading_and_notes() -> None:
    table = TABLES[0]
    text = drawn(table, width=1000)
    assert all(words in text for words in (table.title, table.reading, *table.notes))


def test_a_terminal_with_colours_marks_places_in_them() -> None:
    text = drawn(TABLES[0], width=200, colour=True)
    for code in ("1;33", "1;34", "1;31"):
        assert re.search(rf"\x1b\[{code}m[\d.]+ \([\d.]+\)[¹²³]\x1b", text)


def test_markup_in_names_is_text() -> None:
    table = replace(TABLES[0], title="[red]no colour[/red]")
    assert "[red]no colour[/red]" in drawn(table, width=200)


def test_every_table_is_written_in_every_form(tmp_path: Path) -> None:
    tables = make_tables(invented(scattered))
    files = write_tables(tables, tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {path.name for path in files}
    assert len(files) == len(tables) * len(TABLE_FORMS) + len(DOCUMENTS)
    Reader((tmp_path / "new" / "all.html").read_text(encoding="utf-8"))
    for table in tables:
        assert TABLE_FORMS["md"](table) in (tmp_path / "new" / "all.md").read_text(encoding="utf-8")


def test_only_the_forms_asked_for_are_written(tmp_path: Path) -> None:
    files = write_tables(make_tables(invented(scattered), ["worst"]), tmp_path, ["csv"])
    assert [path.name for path in files] == ["worst-digits.csv"]


def test_a_terminal_without_signs_gets_ascii_in_straight_columns() -> None:
    made = Table(
        name="signs",
        title="Kendall τ",
        columns=(("f", "2"),),
        blocks=(Block("✓", {"a": (Cell("50.0‡", rank=1),), "b": (Cell("9.0", worst=True),)}),),
        notes=("‡ 1 run diverged",),
        reading="▼",
        data=pl.DataFrame(),
        rows="attack",
    )
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = Console(file=stream, width=60, color_system=None)
    console.print(terminal(made, console))
    stream.seek(0)
    lines = [line.rstrip() for line in stream.read().splitlines()]
    assert lines[0] == "Kendall tau"
    assert any(line.endswith("50.0 (diverged)^1") for line in lines)
    ends = {len(line) for line in lines if line.endswith(("^1", "9.0 (worst)"))}
    assert len(ends) == 1
    assert lines[-1] == "  (diverged) 1 run diverged"


def test_every_form_names_the_rows_and_marks_the_worst() -> None:
    matrix = next(table for table in TABLES if table.name.startswith("matrix-strategy"))
    assert TABLE_FORMS["md"](matrix).splitlines()[2].startswith("| attack |")
    assert "▼**" in TABLE_FORMS["md"](matrix)
    assert 'rowspan="2">attack</th>' in TABLE_FORMS["html"](matrix)
    assert 'class="worst"' in TABLE_FORMS["html"](matrix)
    assert "Attack & " in latex(matrix)
    assert r"\wolaworst{" in latex(matrix)
