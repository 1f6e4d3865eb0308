"""`wola flower`: keys for a federation, and a demonstration of one on this machine."""

from collections.abc import Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Annotated, Any

import typer

from wola.cli.commands import Command, Commands
from wola.cli.errors import INTERRUPTED, Refused, known
from wola.cli.screen import say, screen

flower = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    suggest_commands=False,
    help="Make the keys of a Flower federation, or watch one on this machine.",
)

NEEDED = "flwr"


@flower.command("keygen", cls=Command)
def keygen(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the keys go: a new folder.")],
    *,
    clients: Annotated[int, typer.Option(min=0, help="Clients to make keys for.")] = 5,
    host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name or address of the server; may be repeated."),
    ] = None,
    client: Annotated[
        bool, typer.Option("--client", help="One client's own keys alone, on its own machine.")
    ] = False,
) -> None:
    """Make certificates and keys: for the server, for clients, or one client's own."""
    _need_flower()
    from wola.flower.deployment import make_client_keys, make_credentials

    console = screen()
    if client and host:
        raise Refused("--client makes no certificate, so --host says nothing; allowed: one of them")
    try:
        if client:
            keys = make_client_keys(folder)
            say(console, f"private, to stay here: {keys.node} and {keys.signing}")
            say(console, f"for the server: {keys.node_public} and {keys.signing_public}")
            return
        made = make_credentials(folder, clients=clients, hosts=host or ())
    except FileExistsError as error:
        raise Refused(str(error)) from None
    say(console, f"for the server: {made.server.parent}")
    for index in range(clients):
        say(console, f"for client {index} alone: {made.client(index).folder}")
    say(console, f"to be kept away from both: {folder / 'authority'}, which makes certificates")


@flower.command("demo", cls=Command)
def demo(
    *,
    misbehave: Annotated[
        str, typer.Option(metavar="LIE", help="What the Byzantine client does.")
    ] = "sign-flip",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each strategy.")] = 5,
    seed: Annotated[int, typer.Option(help="Decides the shards and all draws.")] = 1,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A new folder for keys, logs and records, to be kept."),
    ] = None,
) -> None:
    """Run a federation of five clients on this machine, with TLS, keys and one Byzantine client.

    The same federation is trained with Flower's FedAvg, then with WoLA and a robust rule.
    """
    _need_flower()
    from wola.flower.deployment import LIES, FederationPlan, run_demo_federation

    plan = FederationPlan(misbehave=known("misbehave", misbehave, LIES), rounds=rounds, seed=seed)
    console = screen()
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise Refused(f"keep = {str(keep)!r} is not empty; allowed: a new folder")
    begun = monotonic()
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(TemporaryDirectory(prefix="wola-flower-")))
        try:
            runs = run_demo_federation(plan, folder.resolve(), lambda line: say(console, line))
        except KeyboardInterrupt:
            say(console, "interrupted: everything that was started is stopped")
            raise typer.Exit(INTERRUPTED) from None
    say(console, "")
    say(console, _ending(runs, plan.misbehave))
    say(console, f"{monotonic() - begun:.0f} s; everything that was started is stopped")
    if keep is not None:
        say(console, f"keys, logs and records: {keep}")


def _ending(runs: dict[str, list[dict[str, Any]]], misbehave: str) -> str:
    wola, fedavg = (_accuracy(runs[name]) for name in ("wola", "fedavg"))
    return (
        f"test accuracy with one client of five Byzantine ({misbehave}): "
        f"WoLA with NNM and the trimmed mean {wola}, FedAvg {fedavg}"
    )


def _accuracy(records: Sequence[dict[str, Any]]) -> str:
    found = records[-1]["accuracy"]
    return "none, the model is not finite" if found is None else f"{found:.1f} %"


def _need_flower() -> None:
    if find_spec(NEEDED) is None:
        raise Refused("Flower is not installed; allowed: pip install 'wola[flower]'")
