"""`wola report`: the tables, figures and page of one or more stores."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from wola.bench.store import DEFAULT_STORE
from wola.cli.axis_flags import Asked, axis_flags
from wola.cli.errors import Refused, known
from wola.cli.output_folder import check_output
from wola.cli.screen import say, screen
from wola.cli.selection import open_store, selected
from wola.report.arrangement import CannotArrange
from wola.report.axes import UnknownAxis, axis_named
from wola.report.comparison import (
    NothingShared,
    against_paper,
    against_runs,
    missing_from_paper,
)
from wola.report.figure_style import FigureStyle, figure_style
from wola.report.forms import TABLE_FORMS, terminal
from wola.report.layout import Table
from wola.report.metrics import METRICS
from wola.report.paper_tables import TABLE_KINDS, WRITTEN_KINDS, make_tables
from wola.report.runs import Runs, read_runs
from wola.report.table_files import write_tables

# The last three have some hundred numbers: for files, not for reading in a terminal.
_PRINTED = WRITTEN_KINDS[:-3]


@axis_flags
def report(
    stores: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUNS]...", help=f"Stores; default: {DEFAULT_STORE}."),
    ] = None,
    *,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write tables, figures and the page there."),
    ] = None,
    tables: Annotated[
        str | None,
        typer.Option(
            metavar="KIND,...", show_default=False, help=f"Which tables: {', '.join(TABLE_KINDS)}."
        ),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            show_default=False,
            help="Rows: a field, strategy, or a parameter such as power; default: what varies.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD[,FIELD]", show_default=False, help="Columns; default: alpha,byzantine."
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default=False, help=f"One of {', '.join(METRICS)}."),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="ROW", show_default=False, help="Show differences to this row, with intervals."
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            metavar="FORM,...",
            show_default=False,
            help=f"Forms to write: {', '.join(TABLE_FORMS)}; without --out, printed.",
        ),
    ] = None,
    figures: Annotated[bool, typer.Option(help="With --out: draw the figures.")] = True,
    style: Annotated[
        str,
        typer.Option(
            metavar="STYLE",
            help="How figures look: screen, paper, 'paper(width=6.9)' (inches) or slides.",
        ),
    ] = "screen",
    page: Annotated[bool, typer.Option(help="With --out: make the page.")] = True,
    paper: Annotated[
        bool, typer.Option("--against-paper", help="Compare with the numbers of the paper.")
    ] = False,
    against: Annotated[
        Path | None, typer.Option(metavar="STORE", help="Compare with the runs of another store.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Means over the runs there are, marked, for n/m.")
    ] = False,
    **asked: list[str] | None,
) -> None:
    """Show tables of runs, the paper's or one's own; with --out also write figures and a page.

    A mean stands only where all its runs are there; else n/m says that n of m are. Every axis can
    be cut by a flag of its name.
    """
    console = screen()
    kinds, forms = _names("--tables", tables, TABLE_KINDS), _names("--form", form, TABLE_FORMS)
    look = figure_style(style, name="--style")
    shown = None if metric is None else known("--metric", metric, METRICS)
    if out is not None:
        check_output(out)
    runs = _read(stores or [DEFAULT_STORE], asked)
    choice = _Choice(runs, rows, columns, shown, baseline, partial)
    compared, notes = _compared(runs, asked, paper=paper, against=against, partial=partial)
    made = [*choice.tables(kinds or choice.printed()), *compared]
    if forms and out is None:
        for table in made:
            print("\n".join(TABLE_FORMS[name](table) for name in forms))
        return
    for table in made:
        console.print(terminal(table, console))
        console.print()
    for note in (*runs.notes, *notes):
        say(console, note)
    if out is not None:
        written = [*choice.tables(kinds or choice.written()), *compared]
        files = write_tables(written, out / "tables", forms or TABLE_FORMS)
        say(console, f"tables: {len(files)} files in {out / 'tables'}")
        _draw(console, runs, out, style=look if figures else None, page=page)


@dataclass(frozen=True)
class _Choice:
    """Which tables of some runs were asked for, and how."""

    runs: Runs
    rows: str | None
    columns: str | None
    metric: str | None
    baseline: str | None
    partial: bool

    def printed(self) -> list[str]:
        """The kinds to print if none are named."""
        metric = self.metric or "accuracy"
        if self.rows or self.columns:
            kinds = [metric]
        elif self.metric:
            kinds = [metric, "worst", "gain"]
        else:
            kinds = list(_PRINTED)
        return [*kinds, *(["differences"] if self.baseline else [])]

    def written(self) -> list[str]:
        """The kinds to write into files if none are named."""
        return list(dict.fromkeys([*self.printed(), *WRITTEN_KINDS]))

    def tables(self, kinds: Iterable[str]) -> list[Table]:
        """The tables of some kinds; names that make no table are refused."""
        columns = self.columns.split(",") if self.columns else []
        flags = [("--rows", [self.rows] if self.rows else []), ("--columns", columns)]
        for flag, names in flags:
            for name in names:
                try:
                    axis_named(name, self.runs)
                except UnknownAxis as error:
                    raise Refused(f"{flag} = {name.strip()!r}; {error}") from None
        try:
            return make_tables(
                self.runs,
                kinds,
                partial=self.partial,
                metric=self.metric or "accuracy",
                rows=self.rows,
                columns=columns,
                baseline=self.baseline,
            )
        except CannotArrange as error:
            raise Refused(f"--{error}") from None


def _compared(
    runs: Runs, asked: Asked, *, paper: bool, against: Path | None, partial: bool
) -> tuple[list[Table], list[str]]:
    """The tables of comparisons, and what there is to say of them."""
    tables: list[Table] = []
    notes: list[str] = []
    if paper:
        tables += against_paper(runs, partial=partial)
        notes += [f"against the paper: {line}" for line in missing_from_paper(runs)]
    if against is not None:
        others = _read([against], asked)
        try:
            tables += against_runs(runs, others, name=str(against), partial=partial)
        except NothingShared as error:
            raise Refused(str(error)) from None
    return tables, notes


def _names(flag: str, given: str | None, names: Iterable[str]) -> list[str]:
    return [known(flag, name.strip(), names) for name in given.split(",")] if given else []


def _read(stores: Iterable[Path], asked: Asked) -> Runs:
    paths = list(stores)
    runs = read_runs(*map(open_store, paths))
    cut = replace(runs, table=selected(runs.table, asked), failed=selected(runs.failed, asked))
    if cut.table.is_empty() and cut.failed.is_empty():
        there = len(runs.table) + len(runs.failed)
        none = f"none of the {there} runs is asked for" if there else "no run has been made"
        told = "; ".join([none, *(() if there else runs.notes)])
        raise Refused(f"{', '.join(map(str, paths))}: {told}; allowed: `wola runs ls` lists them")
    return cut


def _draw(
    console: Console, runs: Runs, out: Path, *, style: FigureStyle | None, page: bool
) -> None:
    # Matplotlib takes a second to import, which tables alone need not wait for.
    if style is not None:
        from wola.report.figures import draw_all

        drawn = draw_all(runs, out / "figures", style=style)
        say(console, f"figures: {len(drawn.files)} files in {out / 'figures'}")
        for name, reason in drawn.undrawn:
            say(console, f"  not drawn: {name}: {reason}")
    if page:
        from wola.report.page import write_page

        say(console, f"page: {write_page(runs, out)}")
