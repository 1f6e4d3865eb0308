"""`wola runs export` and `wola runs import`: runs into files, and into other stores."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from wola.bench.exchange import export_runs, import_runs
from wola.bench.store import DEFAULT_STORE, Store
from wola.cli.axis_flags import Asked, axis_flags
from wola.cli.errors import FAULT, Refused
from wola.cli.screen import say, screen
from wola.cli.selection import open_store, selected
from wola.ground.files import refused
from wola.ground.names import counted

_Where = Annotated[Path, typer.Option("--store", metavar="FOLDER", help="The store.")]

_TABLES: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".csv": lambda table, path: table.write_csv(path),
    ".parquet": lambda table, path: table.write_parquet(path),
    ".json": lambda table, path: table.write_json(path),
}


@axis_flags
def export(
    out: Annotated[
        Path, typer.Argument(metavar="FILE", help="A .csv, .parquet or .json; .zip with --metrics.")
    ],
    *,
    store: _Where = DEFAULT_STORE,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Whole runs in one .zip, for `wola runs import`.")
    ] = False,
    coinciding: Annotated[
        bool, typer.Option("--coinciding", help="Also scenarios that another one's run answers.")
    ] = False,
    **asked: list[str] | None,
) -> None:
    """Write runs into one file: a table with a row each, or whole runs with their metrics."""
    if metrics:
        if out.suffix != ".zip":
            raise Refused(f"FILE = {str(out)!r}; allowed with --metrics: a name that ends in .zip")
        _export_whole(open_store(store), out, asked)
        return
    if out.suffix not in _TABLES:
        hint = "--metrics for a .zip, or " if out.suffix == ".zip" else ""
        names = ", ".join(_TABLES)
        raise Refused(f"FILE = {str(out)!r}; allowed: {hint}a name that ends in {names}")
    table = selected(open_store(store).frame(coinciding=coinciding), asked)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _TABLES[out.suffix](table, out)
    except OSError as error:
        raise refused(error, out) from error
    say(screen(), f"{counted(len(table), 'row')} in {out}")


def import_into(
    source: Annotated[
        Path, typer.Argument(metavar="STORE|FILE.ZIP", help="Another store, or an export of one.")
    ],
    *,
    store: _Where = DEFAULT_STORE,
) -> None:
    """Take runs into a store from another one, or from an export; each is verified first.

    Nothing that the runs name is imported or executed. Exit code 1 if any of them is damaged.
    """
    if not source.exists():
        raise Refused(f"{source} does not exist; allowed: a store, or a file of its export")
    with _kept_if_used(store) as opened:
        taken = import_runs(source, opened)
    console = screen()
    for key, reason in taken.damaged.items():
        say(console, f"{key[:10]} is damaged and was left out: {reason}")
    say(
        console,
        f"{counted(taken.new, 'new run')}, {taken.there} were there, {len(taken.damaged)} damaged; "
        f"store: {store}",
    )
    if taken.damaged:
        raise typer.Exit(FAULT)


def _export_whole(store: Store, out: Path, asked: Asked) -> None:
    if any(asked.values()):
        # A scenario that another one's run answers asks for that run.
        keys = selected(store.frame(coinciding=True), asked)["run"].unique().to_list()
    else:
        keys = list(store.keys())
    size = export_runs(store, keys, out)
    say(screen(), f"{counted(len(keys), 'run')} in {out} ({size / 1e3:,.0f} kB)")


@contextmanager
def _kept_if_used(path: Path) -> Iterator[Store]:
    """The store in a folder; one that is new goes away again if the work on it is refused."""
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    store = Store.open(path)
    try:
        yield store
    except ValueError:
        if new and [inside.name for inside in path.iterdir()] == ["store.json"]:
            (path / "store.json").unlink()
            for folder in new:
                folder.rmdir()
        raise
