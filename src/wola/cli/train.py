"""`wola train`: one run of one scenario, into a folder of its own."""

import os
import shlex
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console

from wola.bench.progress import RunProgress
from wola.cli.commands import OUTPUT
from wola.cli.doctor import devices
from wola.cli.errors import (
    DIVERGED,
    INTERRUPTED,
    OwnCodeFailed,
    Refused,
    is_expected,
    place_in,
)
from wola.cli.flags import by_topic, field_flags, given
from wola.cli.run_table import run_table
from wola.cli.scenario_file import check_same, folder_name, kept_scenario, read_toml, settle
from wola.cli.screen import say, screen
from wola.ground.files import WriteError, move_aside
from wola.training import PARTS, RunFolder, Scenario
from wola.training.checkpoint import DamagedCheckpoint
from wola.training.scenario import PAPER, TOPICS

_LATER = {
    **{name: "the paper's for the dataset" for fields in PAPER.values() for name in fields},
    "partition": "dirichlet, for your own data what suits them",
}


@field_flags(
    Scenario,
    only=by_topic(Scenario, TOPICS),
    settled_later=_LATER,
    metavars=dict.fromkeys(PARTS.kinds, "PART"),
)
def train(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[SCENARIO.TOML]", help="A scenario; flags override its fields."),
    ] = None,
    *,
    strategy: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A strategy of the paper: `wola list strategy`."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            rich_help_panel=OUTPUT,
            help="The run folder (default: runs/NAME-KEY).",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            rich_help_panel=OUTPUT,
            help="Go on from the checkpoint in the run folder.",
        ),
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            rich_help_panel=OUTPUT,
            help="With --resume: start anew if there is nothing to resume.",
        ),
    ] = False,
    checkpoint_every: Annotated[
        int,
        typer.Option(
            min=1, metavar="STEPS", rich_help_panel=OUTPUT, help="Steps between two checkpoints."
        ),
    ] = 50,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", rich_help_panel=OUTPUT, help="Show the traceback if your own code fails."
        ),
    ] = False,
    **fields: str | bool | None,
) -> None:
    """Train one scenario and keep it in a run folder.

    A PART is name, name(key=value) or module:Name(key=value): see `wola list`.
    Exit codes: 1 a file or your code failed, 2 bad input, 3 the run diverged.
    """
    flags = given(Scenario, fields)
    named = bool(flags) or strategy is not None
    scenario = settle(_base(file, out if resume else None, named), strategy, flags)
    _check_device(scenario)
    own = scenario.content()
    folder = RunFolder(Path("runs") / folder_name(scenario) if out is None else out)
    check_same(folder, scenario)
    check_writable(folder.path)
    console = screen()
    if fresh and not resume:
        raise Refused("--fresh without --resume; allowed: both, or none")
    if resume and not folder.complete:
        resume = _can_resume(console, folder, scenario, fresh)
    if resume and folder.complete:
        say(console, f"{folder.path} is finished already")
        summary = folder.summary()
    else:
        progress = RunProgress(console)
        try:
            with _own_errors(own, progress, debug), _nothing_empty(folder.path), progress:
                result = folder.train(
                    scenario, callbacks=[progress], every=checkpoint_every, resume=resume
                )
        except KeyboardInterrupt:
            say(console, _interrupted(folder, progress.steps))
            raise typer.Exit(INTERRUPTED) from None
        summary = result.summary()
    console.print(run_table(summary, scenario))
    say(console, f"run folder: {folder.path}")
    if summary["ending"] != "finished":
        raise typer.Exit(DIVERGED)


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be written to, or made, before any work goes into it."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise WriteError(None, "cannot write (it is a file, not a folder)", str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise WriteError(None, "cannot write (Permission denied)", str(there))


@contextmanager
def _own_errors(own: Collection[str], progress: RunProgress, debug: bool) -> Iterator[None]:
    """Tells an error in the user's own modules with its place; keeps a bug's traceback."""
    try:
        yield
    except Exception as error:
        place = place_in(own, error)
        if place is not None:
            if debug:
                traceback.print_exception(error)
            raise (OwnCodeFailed if progress.started else Refused)(place) from None
        # What cannot be known before the data and the model are there; later on it is a bug.
        if progress.started or is_expected(error) or not isinstance(error, ValueError | TypeError):
            raise
        raise Refused(str(error)) from error.__cause__


@contextmanager
def _nothing_empty(folder: Path) -> Iterator[None]:
    """Takes away the folders that were made for a run of which nothing came."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield
    finally:
        for path in new:
            with suppress(OSError):
                path.rmdir()


def _base(file: Path | None, folder: Path | None, named: bool) -> dict[str, Any]:
    if file is not None:
        return read_toml(file)
    if folder is None:
        return {}
    kept = kept_scenario(RunFolder(folder))
    if kept is None and not named:
        raise Refused(f"--resume: {folder} holds no run; allowed: the folder of a run")
    return {} if kept is None else kept.model_dump()


def _can_resume(console: Console, folder: RunFolder, scenario: Scenario, fresh: bool) -> bool:
    """Whether there is a checkpoint to go on from; refused if there is none, unless `fresh`.

    A damaged one is then set aside in the folder.
    """
    checkpoint = folder.checkpoint()
    try:
        if checkpoint.load(scenario) is not None:
            return True
        what = "holds no checkpoint" if folder.path.is_dir() else "is no folder"
        reason = f"{folder.path} {what}"
    except DamagedCheckpoint as error:
        reason = str(error)
        if fresh:
            say(console, f"{reason}; set aside: {move_aside(Path(checkpoint.path), folder.path)}")
    if not fresh:
        raise Refused(
            f"--resume: {reason}; allowed: the folder of a run that was broken off, or --fresh to "
            "start anew if there is nothing to resume"
        )
    return False


def _check_device(scenario: Scenario) -> None:
    kinds = {name.partition(":")[0] for name in devices()}
    if torch.device(scenario.device).type not in kinds:
        raise Refused(f"--device = {scenario.device!r}; allowed here: {', '.join(devices())}")


def _interrupted(folder: RunFolder, steps: int) -> str:
    if not (folder.path / "checkpoint.pt").exists():
        return "interrupted before the first step: there is nothing to resume"
    command = f"wola train --resume --out {shlex.quote(str(folder.path))}"
    return f"interrupted{f' after step {steps}' if steps else ''}; go on with: {command}"
