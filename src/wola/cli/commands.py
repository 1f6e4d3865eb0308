"""Commands that are imported when they are called, and whose help fits on a screen."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click
import typer
from click.shell_completion import CompletionItem
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from wola.cli.errors import BAD_INPUT, exit_code, is_expected, known, message

#: Topics of flags that no scenario has.
OUTPUT, MACHINES = "output", "machines"

_ALL = "wola.cli.help_all"
# Stands for a hyphen while lines are broken.
_WHOLE = "\u2011"
_HELP = {"help_option_names": ["-h", "--help"]}


@dataclass(frozen=True)
class Entry:
    """A command before it is imported: ``module:name`` and the line of help that lists it.

    The name is that of a function, or of a group's `typer.Typer`. With `own_code` the current
    folder is put on the import path once the command is loaded, since it may run parts of the
    user's own; commands that only look at things never import from there.
    """

    path: str
    help: str
    own_code: bool = False


def group(help: str, cls: "type[Commands] | None" = None) -> typer.Typer:
    """A group of commands with the habits of all others."""
    return typer.Typer(
        cls=cls or Commands,
        help=help,
        no_args_is_help=True,
        rich_markup_mode=None,
        suggest_commands=False,
        pretty_exceptions_enable=False,
        context_settings=_HELP,
    )


class HelpText(click.HelpFormatter):
    """Help that is wrapped between words alone: a word with a hyphen stays whole."""

    def write_text(self, text: str) -> None:
        """A paragraph."""
        super().write_text(text.replace("-", _WHOLE))

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Names and what they mean."""
        whole = [(name, about.replace("-", _WHOLE)) for name, about in rows]
        super().write_dl(whole, col_max, col_spacing)

    def getvalue(self) -> str:
        """All that was written."""
        return super().getvalue().replace(_WHOLE, "-")


class HelpContext(click.Context):
    """A context whose help is such a text."""

    formatter_class = HelpText


class Command(TyperCommand):
    """A command whose help gives an overview first.

    Flags that have a topic (their `rich_help_panel`) are only named there, a paragraph for each
    topic; ``--help-all`` says what each of them means.
    """

    context_class = HelpContext

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        if any(map(_topic, self.params)):
            self.params.append(_help_all())

    def get_help(self, ctx: click.Context) -> str:
        """The help; typer escapes brackets for rich even where it does not use rich."""
        return super().get_help(ctx).replace("\\[", "[")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Arguments and flags of the command itself, then those with a topic."""
        topics: dict[str, list[click.Parameter]] = {"": []}
        for param in self.get_params(ctx):
            topics.setdefault(_topic(param) or "", []).append(param)
        _write_section(ctx, formatter, "Options", topics.pop(""))
        # What a scenario does not decide comes last.
        names = sorted(topics, key=lambda name: name in (OUTPUT, MACHINES))
        if ctx.meta.get(_ALL):
            for name in names:
                _write_section(ctx, formatter, name.capitalize(), topics[name])
        elif names:
            with formatter.section("Flags by topic (--help-all says what each one means)"):
                formatter.write_dl([(n, " ".join(p.opts[0] for p in topics[n])) for n in names])


class Commands(TyperGroup):
    """Commands whose expected errors end in one message on standard error, without a traceback.

    Those in `entries` are imported when they are called.
    """

    context_class = HelpContext
    entries: Mapping[str, Entry] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands; nothing is imported."""
        return [*self.entries, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported if it has not been."""
        if cmd_name in self.entries and cmd_name not in self.commands:
            self.add_command(loaded(cmd_name, self.entries[cmd_name]), cmd_name)
        if cmd_name in self.entries and self.entries[cmd_name].own_code:
            import_from_here()
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command meant by the first word; an unknown one suggests the nearest."""
        if not args[0].startswith("-"):
            known("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and flags that begin so; nothing is imported."""
        if not self.entries:
            return super().shell_complete(ctx, incomplete)
        found = [(n, e.help) for n, e in self.entries.items() if n.startswith(incomplete)]
        items = [CompletionItem(name, help=about) for name, about in found]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with a line about each; nothing is imported."""
        own = {name: command.get_short_help_str(80) for name, command in self.commands.items()}
        lines = {**own, **{name: entry.help for name, entry in self.entries.items()}}
        with formatter.section("Commands"):
            formatter.write_dl([(name, lines[name]) for name in self.list_commands(ctx)])

    def main(self, *args: Any, **extra: Any) -> Any:
        """Runs a command; always ends the process with its exit code."""
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            code = BAD_INPUT
        except click.ClickException as error:
            code = _tell(error.format_message(), error.exit_code)
        except Exception as error:
            if not is_expected(error):
                raise
            code = _tell(message(error), exit_code(error))
        sys.exit(code if isinstance(code, int) else 0)


def loaded(name: str, entry: Entry) -> click.Command:
    """The command or group of an entry."""
    module, _, attribute = entry.path.partition(":")
    found = getattr(import_module(module), attribute)
    if isinstance(found, typer.Typer):
        return get_group(found)
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    alone.command(name, cls=Command, context_settings=_HELP)(found)
    return get_command(alone)


def import_from_here() -> None:
    """Puts the current folder first on the import path, so that ``mine:Rule`` is found in it."""
    here = os.getcwd()
    if sys.path[0] != here:
        sys.path.insert(0, here)


def _write_section(
    ctx: click.Context, formatter: click.HelpFormatter, title: str, params: list[click.Parameter]
) -> None:
    with formatter.section(title):
        formatter.write_dl([row for p in params if (row := p.get_help_record(ctx))])


def _topic(param: click.Parameter) -> str | None:
    return getattr(param, "rich_help_panel", None)


def _help_all() -> click.Option:
    def show(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
        if asked and not ctx.resilient_parsing:
            ctx.meta[_ALL] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show this message with all flags, and exit.",
    )


def _tell(text: str, code: int) -> int:
    from wola.cli.screen import say, screen

    say(screen(stderr=True), f"wola: {text}", style="red")
    return code
