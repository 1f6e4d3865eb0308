"""The `wola` command and its subcommands."""

from typing import Annotated

import typer

from wola.cli.bench import bench
from wola.cli.data import data
from wola.cli.demo import demo
from wola.cli.doctor import doctor, installed
from wola.cli.faults import Command, Commands
from wola.cli.flower import flower
from wola.cli.listing import list_names
from wola.cli.report import report
from wola.cli.runs import runs
from wola.cli.screen import say, screen
from wola.cli.serve import serve
from wola.cli.train import train

app = typer.Typer(
    cls=Commands,
    name="wola",
    no_args_is_help=True,
    rich_markup_mode=None,
    suggest_commands=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        say(screen(), f"wola {installed('wola')}")
        raise typer.Exit


@app.callback()
def wola(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Byzantine-robust federated learning under label skew."""


app.command("train", cls=Command)(train)
app.command("list", cls=Command)(list_names)
app.command("doctor", cls=Command)(doctor)
app.command("demo", cls=Command)(demo)
app.command("bench", cls=Command)(bench)
app.command("report", cls=Command)(report)
app.command("serve", cls=Command)(serve)
app.add_typer(data, name="data")
app.add_typer(runs, name="runs")
app.add_typer(flower, name="flower")


def main() -> None:
    """The entry point of the `wola` command."""
    app()
