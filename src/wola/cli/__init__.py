"""The command line: `wola ...`."""

from wola.cli.app import app, main

__all__ = ["app", "main"]
