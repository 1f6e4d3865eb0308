"""`wola train`: one run of one scenario, into a folder of its own."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.table import Table
from rich.text import Text

from wola.bench.progress import RunProgress
from wola.cli.doctor import devices
from wola.cli.faults import INTERRUPTED, Refused
from wola.cli.flags import field_flags, given
from wola.cli.screen import say, screen
from wola.cli.settling import check_same, folder_name, kept_scenario, read_toml, settle
from wola.training import RunFolder, Scenario
from wola.training.scenario import PAPER

_BY_DATASET = {name: "the paper's for the dataset" for fields in PAPER.values() for name in fields}


@field_flags(Scenario, settled_later=_BY_DATASET)
def train(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[SCENARIO.TOML]", help="A scenario; flags override its fields."),
    ] = None,
    *,
    strategy: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A strategy of the paper: `wola list strategies`."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="RUN_FOLDER", help="The run folder (default: runs/NAME-KEY)."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint in the run folder.")
    ] = False,
    checkpoint_every: Annotated[
        int, typer.Option(min=1, metavar="INTEGER", help="Steps between two checkpoints.")
    ] = 50,
    **fields: str | bool | None,
) -> None:
    """Train one scenario and keep it in a run folder.

    The scenario is that of the TOML file, if one is given, with the same field names; flags
    override it, and what neither names is the paper's setting for the dataset. Ctrl-C leaves a
    checkpoint, from which --resume goes on.
    """
    flags = given(Scenario, fields)
    named = bool(flags) or strategy is not None
    scenario = settle(_base(file, out if resume else None, named), strategy, flags)
    _check_device(scenario)
    folder = RunFolder(Path("runs") / folder_name(scenario) if out is None else out)
    check_same(folder, scenario)
    console = screen()
    if resume and folder.complete:
        say(console, f"{folder.path} is finished already")
        console.print(run_table(folder.summary(), scenario))
        return
    progress = RunProgress(console)
    try:
        with progress:
            result = folder.train(
                scenario, callbacks=[progress], every=checkpoint_every, resume=resume
            )
    except KeyboardInterrupt:
        say(console, _interrupted(folder, progress.steps))
        raise typer.Exit(INTERRUPTED) from None
    except (ValueError, TypeError) as error:
        # What cannot be known before the data and the model are there; later on it is a bug.
        if progress.started:
            raise
        raise Refused(str(error)) from error.__cause__
    console.print(run_table(result.summary(), scenario))
    say(console, f"run folder: {folder.path}")


def run_table(summary: dict[str, Any], scenario: Scenario) -> Table:
    """A run in a few lines: how it ended, how well the model does, how far workers differed."""
    table = Table(box=None, show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    seconds = sum(summary["seconds"].values())
    steps = summary["steps"]
    rows = {
        "scenario": f"{scenario.dataset}, {scenario.byzantine} of {scenario.workers} Byzantine, "
        f"{scenario.attack} against {_defence(scenario)}",
        "ending": summary["ending"],
        "accuracy": f"{_number(summary['accuracy'], '.2f')} % averaged over training, "
        f"{_number(summary['final_accuracy'], '.2f')} % at the end",
        "weakest class": _weakest(summary),
        "dissimilarity": f"{_number(summary['dissimilarity_momenta'], '.4g')} of momenta, "
        f"{_number(summary['dissimilarity_gradients'], '.4g')} of gradients",
        "cosine": f"{_number(summary['cosine'], '.3f')} between aggregate and honest mean",
        "dropped": f"{summary['dropped']} updates, {summary['skipped']} rounds skipped",
        "time": f"{seconds:.1f} s, {1000 * seconds / max(1, steps):.1f} ms a step",
    }
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return table


def _base(file: Path | None, folder: Path | None, named: bool) -> dict[str, Any]:
    if file is not None:
        return read_toml(file)
    if folder is None:
        return {}
    kept = kept_scenario(RunFolder(folder))
    if kept is None and not named:
        raise Refused(f"--resume: {folder} holds no run; allowed: the folder of a run")
    return {} if kept is None else kept.model_dump()


def _check_device(scenario: Scenario) -> None:
    kinds = {name.partition(":")[0] for name in devices()}
    if torch.device(scenario.device).type not in kinds:
        raise Refused(f"--device = {scenario.device!r}; allowed here: {', '.join(devices())}")


def _interrupted(folder: RunFolder, steps: int) -> str:
    if not (folder.path / "checkpoint.pt").exists():
        return "interrupted before the first step: there is nothing to resume"
    command = f"wola train --resume --out {shlex.quote(str(folder.path))}"
    return f"interrupted{f' after step {steps}' if steps else ''}; go on with: {command}"


def _defence(scenario: Scenario) -> str:
    named = scenario.strategy
    if named is None:
        named = f"{scenario.loss}, {scenario.objective} objective, mixing {scenario.mixing}"
    return scenario.aggregator if named == "-" else f"{scenario.aggregator} with {named}"


def _weakest(summary: dict[str, Any]) -> str:
    known = [
        (value, name)
        for name, value in zip(summary["classes"], summary["class_accuracies"], strict=True)
        if value is not None
    ]
    return f"{min(known)[1]}, {min(known)[0]:.1f} % at the end" if known else "-"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
