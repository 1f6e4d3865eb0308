"""`wola serve`: the page of a store in the browser, live while a grid runs."""

import errno
import ipaddress
from pathlib import Path
from typing import Annotated

import typer

from wola.bench.store import DEFAULT_STORE
from wola.cli.errors import Refused
from wola.cli.screen import say, screen
from wola.cli.selection import open_store
from wola.report.serve import PageServer

DEFAULT_PORT = 8017


def serve(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUNS]...", help=f"Stores (default: {DEFAULT_STORE})."),
    ] = None,
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="INTEGER", help="The port; 0: any free one.")
    ] = DEFAULT_PORT,
    host: Annotated[
        str, typer.Option(metavar="NAME", help="Who may look: localhost is this machine alone.")
    ] = "localhost",
) -> None:
    """Show runs in the browser, new ones as they come; Ctrl-C ends it.

    Nothing is ever written to the stores.
    """
    stores = [open_store(path) for path in runs or [DEFAULT_STORE]]
    console = screen()
    try:
        server = PageServer(stores, host=host, port=port)
    except OSError as error:
        raise Refused(_reason(error, host, port)) from error
    with server:
        say(console, f"{server.url}  (Ctrl-C ends it)")
        if not _only_here(host):
            say(console, f"note: whoever reaches {host} can read these runs", style="yellow")
        try:
            # In short steps: some libraries let a Ctrl-C wait until the next one.
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            say(console, "ended")


def _reason(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"--port = {port}; another program has it; allowed: another port, or 0 for any"
    return f"--host = {host!r}, --port = {port}: {error.strerror or error}; allowed: a free address"


def _only_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
