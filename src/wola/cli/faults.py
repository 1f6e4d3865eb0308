"""What goes wrong, as one message and an exit code: 2 for bad input, 1 for the surroundings."""

import sys
from collections.abc import Iterable
from typing import Any

import click
from typer.core import TyperCommand, TyperGroup

from wola.bench.grid import GridError
from wola.bench.store import StoreError
from wola.cli.screen import say, screen
from wola.data import DataError
from wola.ground.names import nearest
from wola.training import CheckpointError, ScenarioError

BAD_INPUT, FAULT, INTERRUPTED = 2, 1, 130


class Refused(ValueError):
    """Something the user asked for cannot be done; the message says what is allowed."""


EXPECTED = (Refused, ScenarioError, CheckpointError, DataError, GridError, StoreError, OSError)


def known(what: str, name: str, names: Iterable[str]) -> str:
    """`name` if it is one of `names`; else it is refused, with the nearest of them.

    >>> known("kind", "tea", ["tea"])
    'tea'
    """
    try:
        return nearest(name, names)
    except ValueError as error:
        raise Refused(f"{what} = {name!r}; {error}") from None


def exit_code(error: Exception) -> int:
    """1 if the system refused to read or write, 2 if the input was wrong.

    >>> exit_code(PermissionError()), exit_code(Refused())
    (1, 2)
    """
    reason = error if isinstance(error, OSError) else error.__cause__
    missing = isinstance(reason, FileNotFoundError) and reason is not error
    return FAULT if isinstance(reason, OSError) and not missing else BAD_INPUT


def message(error: Exception) -> str:
    """The error in words; an operating system's error names the file first.

    >>> message(PermissionError(13, "Permission denied", "runs"))
    'runs: Permission denied'
    """
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


class Command(TyperCommand):
    """A command whose help is plain text."""

    def get_help(self, ctx: click.Context) -> str:
        """The help; typer escapes brackets for rich even where it does not use rich."""
        return super().get_help(ctx).replace("\\[", "[")


class Commands(TyperGroup):
    """Commands whose expected errors end in one message on standard error, without a traceback."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command meant by the first word; an unknown one suggests the nearest."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            known("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Runs a command; always ends the process with its exit code."""
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            code = BAD_INPUT
        except click.ClickException as error:
            code = _tell(error.format_message(), error.exit_code)
        except EXPECTED as error:
            code = _tell(message(error), exit_code(error))
        sys.exit(code if isinstance(code, int) else 0)


def _tell(text: str, code: int) -> int:
    say(screen(stderr=True), f"wola: {text}", style="red")
    return code
