"""`wola runs`: what a store holds, and what to do with it."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wola.bench.cleanup import clean_up
from wola.bench.store import DEFAULT_STORE, Store
from wola.cli.axis_flags import axis_flags
from wola.cli.commands import Command, group
from wola.cli.errors import Refused
from wola.cli.run_table import run_table
from wola.cli.runs_exchange import export, import_into
from wola.cli.screen import say, say_json, screen
from wola.cli.selection import failures, open_store, selected, whole_key
from wola.ground.names import counted
from wola.training import SEMANTICS

runs = group("List, show, compare, delete, tidy, import and export the runs of a store.")

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

#: Columns that no table of runs needs.
UNBOUNDED = 100_000

_Where = Annotated[Path, typer.Option("--store", metavar="FOLDER", help="The store.")]
_Key = Annotated[str, typer.Argument(metavar="KEY", help="A run's key, or how it begins.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@runs.command("ls", cls=Command)
@axis_flags
def ls(
    store: _Where = DEFAULT_STORE,
    *,
    failed: Annotated[bool, typer.Option("--failed", help="The runs that failed.")] = False,
    running: Annotated[bool, typer.Option("--running", help="The runs under way.")] = False,
    coinciding: Annotated[
        bool, typer.Option("--coinciding", help="Also scenarios that another one's run answers.")
    ] = False,
    as_json: _Json = False,
    **asked: list[str] | None,
) -> None:
    """List runs, one line each; flags of fields choose among them."""
    opened = open_store(store)
    console = screen()
    if running:
        _list_running(console, opened, as_json)
        return
    table = failures(opened) if failed else opened.frame(coinciding=coinciding)
    found = selected(table, asked)
    if as_json:
        say_json(found.to_dicts())
        return
    table_of_runs = _listing(found)
    if not console.is_terminal:
        # One line for each run, however long its parts are written.
        console.width = UNBOUNDED
        console.width = console.measure(table_of_runs).maximum
    console.print(table_of_runs)
    say(console, counted(len(found), "run"))
    _tell_other_versions(console, opened)


@runs.command("show", cls=Command)
def show(key: _Key, store: _Where = DEFAULT_STORE, *, as_json: _Json = False) -> None:
    """Show one run: how it went, its scenario, where its files are; of a failed run, the log."""
    opened = open_store(store)
    name = whole_key(opened, key)
    console = screen()
    if not opened.is_done(name):
        failure = opened.failure(name) or {"key": name, "tries": 0, "log": ""}
        if as_json:
            say_json(failure)
            return
        say(console, f"{name} failed, {counted(failure['tries'], 'time')}; the end of its log:")
        say(console, failure["log"])
        return
    if damage := opened.damage(name):
        raise Refused(f"{damage}; allowed: a whole run; `wola runs gc` sets damaged ones aside")
    record, answered = opened.record(name), _answered(opened, name)
    # What a run of another version holds beside its record is known to that version alone.
    summary = opened.summary(name) if record["semantics"] == SEMANTICS else None
    if as_json:
        where = str(opened.folder(name))
        say_json({"record": record, "summary": summary, "answers": answered, "files": where})
        return
    if summary is not None:
        scenario = opened.scenario(name)
        console.print(run_table(summary, scenario))
        say(console, scenario.to_toml())
    else:
        say(console, f"of another version of wola, semantics {record['semantics']!r}")
        say(console, "".join(f"{k} = {v!r}\n" for k, v in record["fields"].items()))
    for row in answered:
        say(console, f"answers as well: {_words(row)}")
    for what, digest in record["content"].items():
        say(console, f"made of: {what}, SHA-256 {digest[:12]}...")
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
    **asked: list[str] | None,
) -> None:
    """Delete runs, named by key or by their fields."""
    opened = open_store(store)
    if keys:
        names = [whole_key(opened, key) for key in keys]
    elif failed or any(asked.values()):
        table = failures(opened) if failed else opened.frame()
        names = selected(table, asked)["run"].to_list()
    else:
        raise Refused("nothing is named; allowed: keys, fields such as --dataset, or --failed")
    console = screen()
    what = f"{counted(len(names), 'run')} from {store}"
    if names and not yes:
        if not _at_a_terminal():
            raise Refused(f"there is no terminal to ask on; allowed: --yes, to delete {what}")
        if not typer.confirm(f"Delete {what}?"):
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
    for path, reason in cleaned.damaged_files.items():
        say(console, f"{path} is damaged and was set aside: {reason}")
    say(
        console,
        f"{counted(len(cleaned.damaged), 'damaged run')} set aside; deleted: "
        f"{counted(cleaned.claims, 'dead claim')}, {counted(cleaned.drafts, 'draft')}, "
        f"{counted(cleaned.live, 'note')} of runs that are done, "
        f"{counted(cleaned.corrupt, 'run')} set aside before",
    )
    opened.frame(refresh=True)
    _tell_other_versions(console, opened)


runs.command("export", cls=Command)(export)
runs.command("import", cls=Command)(import_into)


def _at_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _list_running(console: Console, store: Store, as_json: bool) -> None:
    found = sorted(store.running().items())
    if as_json:
        say_json([{"key": key, **({} if who is None else vars(who))} for key, who in found])
        return
    for key, owner in found:
        who = "unknown" if owner is None else f"{owner.host}, process {owner.pid}"
        say(console, f"{key[:10]}  {who}")


def _tell_other_versions(console: Console, store: Store) -> None:
    for semantics, count in store.other_versions().items():
        runs = counted(count, "run")
        say(console, f"and {runs} of another version of wola (semantics {semantics!r}), kept")


def _answered(store: Store, key: str) -> list[dict[str, Any]]:
    table = store.frame(coinciding=True)
    return table.filter((pl.col("run") == key) & (pl.col("key") != key)).to_dicts()


def _listing(table: pl.DataFrame) -> Table:
    names = [name for name in LISTED if name in table.columns]
    made = Table("key", *(LISTED[name] for name in names), box=None, header_style="bold")
    for column in made.columns:
        column.overflow = "fold"
    for row in table.iter_rows(named=True):
        made.add_row(Text(row["key"][:10], "cyan"), *(Text(_text(row[name])) for name in names))
    return made


def _words(row: Mapping[str, Any]) -> str:
    return ", ".join(_text(row[name]) for name in ("strategy", "aggregator", "attack"))


def _row(store: Store, key: str) -> dict[str, Any]:
    found = store.frame().filter(pl.col("key") == key)
    if not len(found):
        what = "is of another version of wola" if store.is_done(key) else "failed"
        raise Refused(f"KEY = {key!r} {what}; allowed: runs of this version that are done")
    return found.row(0, named=True)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
