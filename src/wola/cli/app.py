"""The `wola` command and its subcommands."""

from types import MappingProxyType
from typing import Annotated

import typer

from wola.cli.commands import Commands, Entry, group
from wola.cli.streams import guard_output


class Wola(Commands):
    """All commands by name, in the order of their help."""

    entries = MappingProxyType(
        {
            "demo": Entry("wola.cli.demo:demo", "Show the paper's story on digits in a minute."),
            "train": Entry(
                "wola.cli.train:train",
                "Train one scenario and keep it in a run folder.",
                own_code=True,
            ),
            "bench": Entry(
                "wola.cli.bench:bench", "Run a grid of scenarios into a store.", own_code=True
            ),
            "report": Entry(
                "wola.cli.report:report",
                "Show tables of runs, and write figures and a page.",
            ),
            "serve": Entry("wola.cli.serve:serve", "Show runs in the browser as they come."),
            "runs": Entry(
                "wola.cli.runs:runs", "List, show, compare, delete, import and export runs."
            ),
            "data": Entry(
                "wola.cli.data:data", "List, get, show and divide datasets.", own_code=True
            ),
            "list": Entry(
                "wola.cli.listing:list_parts", "List what a scenario can name, with parameters."
            ),
            "flower": Entry(
                "wola.cli.flower:flower", "Make keys for a Flower federation, or try one here."
            ),
            "doctor": Entry(
                "wola.cli.doctor:doctor", "Say what is installed, cached and available here."
            ),
        }
    )


app = group("Byzantine-robust federated learning under label skew.", Wola)


def _version(asked: bool) -> None:
    if asked:
        # Takes longer to import than all the rest, which no other command needs to wait for.
        from importlib.metadata import version

        typer.echo(f"wola {version('wola')}")
        raise typer.Exit


@app.callback()
def wola(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Byzantine-robust federated learning under label skew."""


def main() -> None:
    """The entry point of the `wola` command."""
    guard_output()
    app(prog_name="wola")
