"""`wola runs`: what a store holds, and what to do with it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from rich.table import Table
from rich.text import Text

from wola.bench.cleanup import clean_up
from wola.bench.store import DEFAULT_STORE, Store
from wola.cli.choosing import chosen, failures, open_store, whole_key
from wola.cli.cuts import axis_flags
from wola.cli.faults import Command, Commands, Refused
from wola.cli.screen import say, screen
from wola.cli.train import run_table
from wola.ground.files import refused

runs = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    suggest_commands=False,
    help="List, show, compare, delete, tidy and export the runs of a store.",
)

#: The columns of `wola runs ls`: what is read, and what it is called.
LISTED = {
    "dataset": "dataset",
    "alpha": "alpha",
    "byzantine": "f",
    "strategy": "strategy",
    "aggregator": "aggregator",
    "attack": "attack",
    "seed": "seed",
    "accuracy": "mean %",
    "final_accuracy": "end %",
    "ending": "ending",
}

_Where = Annotated[Path, typer.Option("--store", metavar="DIR", help="The store.")]
_Key = Annotated[str, typer.Argument(metavar="KEY", help="A run's key, or how it begins.")]
_Shared = Annotated[
    bool, typer.Option("--shared", help="Also scenarios that another one's run answers.")
]


@runs.command("ls", cls=Command)
@axis_flags
def ls(
    store: _Where = DEFAULT_STORE,
    *,
    failed: Annotated[bool, typer.Option("--failed", help="The runs that failed.")] = False,
    running: Annotated[bool, typer.Option("--running", help="The runs under way.")] = False,
    shared: _Shared = False,
    **cuts: list[str] | None,
) -> None:
    """List runs, one line each."""
    opened = open_store(store)
    console = screen()
    if running:
        for key, owner in sorted(opened.running().items()):
            who = "unknown" if owner is None else f"{owner.host}, process {owner.pid}"
            say(console, f"{key[:10]}  {who}")
        return
    table = failures(opened) if failed else opened.frame(shared=shared)
    found = chosen(table, cuts)
    console.print(_listing(found))
    say(console, f"{len(found)} {'run' if len(found) == 1 else 'runs'}")


@runs.command("show", cls=Command)
def show(key: _Key, store: _Where = DEFAULT_STORE) -> None:
    """Show one run: how it went, its scenario, where its files are; of a failed run, the log."""
    opened = open_store(store)
    name = whole_key(opened, key)
    console = screen()
    if not opened.is_done(name):
        failure = opened.failure(name) or {"tries": 0, "log": ""}
        say(console, f"{name} failed, {failure['tries']} times; the end of its log:")
        say(console, failure["log"])
        return
    scenario = opened.scenario(name)
    console.print(run_table(opened.summary(name), scenario))
    say(console, scenario.to_toml())
    answered = opened.frame(shared=True).filter((pl.col("run") == name) & (pl.col("key") != name))
    for row in answered.iter_rows(named=True):
        say(console, f"answers as well: {_words(row)}")
    say(console, f"files: {opened.folder(name)}")


@runs.command("diff", cls=Command)
def diff(first: _Key, second: _Key, store: _Where = DEFAULT_STORE) -> None:
    """Compare two runs: the fields in which they differ, then their numbers."""
    opened = open_store(store)
    names = [whole_key(opened, key) for key in (first, second)]
    rows = [_row(opened, name) for name in names]
    table = Table("", *(name[:10] for name in names), box=None, header_style="bold")
    for column in rows[0]:
        values = [row[column] for row in rows]
        if values[0] != values[1] and column not in ("key", "run", "digest"):
            table.add_row(Text(column, "cyan"), *(Text(_text(value)) for value in values))
    console = screen()
    console.print(table)
    same = rows[0]["digest"] == rows[1]["digest"]
    say(console, "the same bits" if same else "not the same bits")


@runs.command("rm", cls=Command)
@axis_flags
def rm(
    keys: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY]...", help="Keys, or how they begin.")
    ] = None,
    *,
    store: _Where = DEFAULT_STORE,
    failed: Annotated[bool, typer.Option("--failed", help="The records of failures.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    **cuts: list[str] | None,
) -> None:
    """Delete runs, named by key or by their fields."""
    opened = open_store(store)
    if keys:
        names = [whole_key(opened, key) for key in keys]
    elif failed or any(cuts.values()):
        table = failures(opened) if failed else opened.frame()
        names = chosen(table, cuts)["run"].to_list()
    else:
        raise Refused("nothing is named; allowed: keys, fields such as --dataset, or --failed")
    console = screen()
    if names and not yes and not typer.confirm(f"Delete {len(names)} of the runs in {store}?"):
        raise typer.Exit(1)
    for name in names:
        opened.remove(name)
    say(console, f"{len(names)} deleted")


@runs.command("gc", cls=Command)
def gc(
    store: _Where = DEFAULT_STORE,
    *,
    corrupt: Annotated[
        bool, typer.Option("--corrupt", help="Delete the runs that were set aside.")
    ] = False,
) -> None:
    """Check every run, set damaged ones aside, and clear what killed processes left."""
    console = screen()
    opened = open_store(store)
    cleaned = clean_up(opened, corrupt=corrupt)
    for key, reason in cleaned.damaged.items():
        say(console, f"{key[:10]} is damaged and was set aside: {reason}")
    say(
        console,
        f"{len(cleaned.damaged)} damaged runs set aside; deleted: {cleaned.claims} dead claims, "
        f"{cleaned.drafts} drafts, {cleaned.live} notes of runs that are done, "
        f"{cleaned.corrupt} runs set aside before",
    )
    opened.frame(refresh=True)


@runs.command("export", cls=Command)
@axis_flags
def export(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv, .parquet or .json file.")],
    *,
    store: _Where = DEFAULT_STORE,
    shared: _Shared = False,
    **cuts: list[str] | None,
) -> None:
    """Write the runs into one table, a row each."""
    writers: dict[str, Callable[[pl.DataFrame, Path], object]] = {
        ".csv": lambda table, path: table.write_csv(path),
        ".parquet": lambda table, path: table.write_parquet(path),
        ".json": lambda table, path: table.write_json(path),
    }
    if out.suffix not in writers:
        raise Refused(f"FILE = {str(out)!r}; allowed: a name that ends in {', '.join(writers)}")
    table = chosen(open_store(store).frame(shared=shared), cuts)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        writers[out.suffix](table, out)
    except OSError as error:
        raise refused(error, out) from error
    say(screen(), f"{len(table)} rows in {out}")


def _listing(table: pl.DataFrame) -> Table:
    names = [name for name in LISTED if name in table.columns]
    made = Table("key", *(LISTED[name] for name in names), box=None, header_style="bold")
    for row in table.iter_rows(named=True):
        made.add_row(Text(row["key"][:10], "cyan"), *(Text(_text(row[name])) for name in names))
    return made


def _words(row: Mapping[str, Any]) -> str:
    return ", ".join(_text(row[name]) for name in ("strategy", "aggregator", "attack"))


def _row(store: Store, key: str) -> dict[str, Any]:
    found = store.frame().filter(pl.col("key") == key)
    if not len(found):
        raise Refused(f"KEY = {key!r} failed; allowed: runs that are done")
    return found.row(0, named=True)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
