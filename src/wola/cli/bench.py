"""`wola bench`: a grid of runs into a store, on this machine or a cluster."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from wola.bench.coincidence import reasons
from wola.bench.events import GridReport, last_line, short_name
from wola.bench.executors.local import cores
from wola.bench.grid import Grid, GridError
from wola.bench.marker import StoreError
from wola.bench.notes import announced
from wola.bench.plan import Plan, make_plan
from wola.bench.presets import FIGURES, PRESETS
from wola.bench.progress import GridProgress, clock_time
from wola.bench.run import Executor, run_grid, tasks_of
from wola.bench.store import DEFAULT_STORE, Store
from wola.bench.strategies import Strategies
from wola.bench.trackers import Trackers
from wola.bench.watch import watch
from wola.cli.axis_flags import Asked, axis_flags, cut
from wola.cli.commands import MACHINES, OUTPUT
from wola.cli.errors import FAULT, INTERRUPTED, Refused, known
from wola.cli.executors import ExecutorFlags, executor_of
from wola.cli.screen import say, screen
from wola.training import Scenario

NAMES = (*PRESETS, *FIGURES)


@axis_flags
def bench(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|GRID.TOML]", help=f"One of {', '.join(NAMES)}; or a file."),
    ] = None,
    *,
    store: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the runs are kept.")
    ] = DEFAULT_STORE,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Say how much there is to do, and do nothing."),
    ] = False,
    watching: Annotated[
        bool, typer.Option("--watch", help="Watch others work on the store.")
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="INTEGER",
            show_default=False,
            help="Runs at once here (default: one per core).",
        ),
    ] = None,
    run_minutes: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            show_default=False,
            help="Give a run up that takes longer (default: no limit).",
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            rich_help_panel=MACHINES,
            help="Run on this Ray cluster, which shares the store; auto finds it.",
        ),
    ] = None,
    slurm: Annotated[
        bool,
        typer.Option(
            "--slurm",
            rich_help_panel=MACHINES,
            help="Run as SLURM jobs on nodes that share the store.",
        ),
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(
            min=1, metavar="INTEGER", rich_help_panel=MACHINES, help="SLURM jobs in the array."
        ),
    ] = 8,
    job_minutes: Annotated[
        int,
        typer.Option(
            min=1, metavar="INTEGER", rich_help_panel=MACHINES, help="Time limit of a SLURM job."
        ),
    ] = 240,
    partition_of_slurm: Annotated[
        str | None,
        typer.Option(
            "--slurm-partition", metavar="NAME", rich_help_panel=MACHINES, help="SLURM partition."
        ),
    ] = None,
    runs_per_gpu: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="INTEGER",
            rich_help_panel=MACHINES,
            help="Runs that share a GPU, with --device cuda.",
        ),
    ] = 1,
    tensorboard: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", rich_help_panel=OUTPUT, help="Write curves for TensorBoard there."
        ),
    ] = None,
    mlflow: Annotated[
        str | None,
        typer.Option(
            metavar="URI", rich_help_panel=OUTPUT, help="Send curves to this MLflow store."
        ),
    ] = None,
    wandb: Annotated[
        str | None,
        typer.Option(
            metavar="PROJECT", rich_help_panel=OUTPUT, help="Send curves to this project of W&B."
        ),
    ] = None,
    **asked: list[str] | None,
) -> None:
    """Run a grid; runs that are in the store already are skipped.

    The same command goes on where it was stopped or killed, and several may work on one store. A
    flag of an axis cuts the grid, that of any other field sets it. What a grid names is imported.
    Exit code 1 if any run failed.
    """
    console = screen()
    flags = ExecutorFlags(
        processes=processes,
        ray=ray,
        slurm=slurm,
        jobs=jobs,
        job_minutes=job_minutes,
        slurm_partition=partition_of_slurm,
        runs_per_gpu=runs_per_gpu,
        trackers=Trackers(tensorboard, mlflow, wandb),
        run_minutes=run_minutes,
    )
    try:
        if run_minutes is not None and not run_minutes > 0:
            raise Refused(f"--run-minutes = {run_minutes:g}; allowed: a number > 0")
        if watching:
            _watch_others(console, name, store, asked)
            return
        if name is None:
            raise Refused(f"no grid is named; allowed: {', '.join(NAMES)}, or a TOML file")
        if name in FIGURES:
            say(console, f"written: {FIGURES[name](Store.open(store))}")
            return
        grid = cut(grid_named(name), asked)
        scenarios = grid.scenarios()
        if plan:
            there = (store / "store.json").exists()
            opened = Store.open(store) if there else Store(store)
            for line in plan_lines(make_plan(scenarios, opened), processes or cores()):
                say(console, line)
            return
        executor = executor_of(flags, grid, scenarios)
        opened = Store.open(store)
    except (GridError, StoreError) as error:
        raise Refused(str(error)) from error.__cause__
    report = carry_out(console, scenarios, opened, executor, title=name, strategies=grid.strategies)
    for line in report_lines(report, scenarios, store):
        say(console, line)
    if not report.whole:
        raise typer.Exit(FAULT)


def carry_out(
    console: Console,
    scenarios: Sequence[Scenario],
    store: Store,
    executor: Executor,
    *,
    title: str,
    strategies: Strategies | None = None,
) -> GridReport:
    """Runs a grid and shows its progress; a Ctrl-C ends the command with a message."""
    try:
        with GridProgress(console, len(tasks_of(scenarios, store)), title=title) as progress:
            return run_grid(
                scenarios,
                store,
                executor=executor,
                listener=progress,
                title=title,
                strategies=strategies,
            )
    except KeyboardInterrupt:
        say(console, f"interrupted; the same command goes on, its runs are in {store.path}")
        raise typer.Exit(INTERRUPTED) from None


def grid_named(name: str) -> Grid:
    """The preset of this name, or the grid of this file."""
    if name in PRESETS:
        return PRESETS[name]()
    if name.endswith(".toml") or Path(name).is_file():
        return Grid.from_toml(name)
    known("grid", name, NAMES)
    return PRESETS[name]()


def plan_lines(plan: Plan, processes: int) -> list[str]:
    """A plan in words."""
    lines = [
        f"{plan.scenarios} scenarios, {plan.runs} runs "
        f"({plan.scenarios - plan.runs} scenarios share the run of another)",
        f"{plan.done} done, {plan.left} left"
        + (f", of which {plan.failed} failed before" if plan.failed else ""),
    ]
    if not plan.left:
        return lines
    time = clock_time(plan.seconds / min(processes, plan.left))
    lines.append(f"about {time} with {processes} at once; this is an estimate:")
    if plan.learnt:
        lines.append(f"  {plan.learnt} runs by the times of {plan.examples} runs in the store")
    if plan.learnt < plan.left:
        table = f"a table recorded on {plan.machine}"
        lines.append(f"  {plan.left - plan.learnt} runs by {table}, which may not be this machine")
    return lines


def report_lines(report: GridReport, scenarios: Sequence[Scenario], store: Path) -> list[str]:
    """A report in words: counts, what was shared and why, and every failure."""
    counts = f"{len(report.done)} runs done, {len(report.skipped)} were there"
    lines = [f"{counts}, {len(report.failed)} failed; store: {store}"]
    if report.shared:
        lines.append(f"{report.shared} scenarios share the run of another:")
        why = Counter(reason for scenario in scenarios for reason in reasons(scenario))
        lines += [f"  {reason} ({count})" for reason, count in why.most_common()]
    for failed in report.failed:
        lines.append(f"FAILED  {failed.key[:8]}  {short_name(failed.scenario)}")
        lines.append(f"        {last_line(failed.log)}")
    return lines


def _watch_others(console: Console, name: str | None, store: Path, asked: Asked) -> None:
    if name is not None and (Path(name) / "store.json").is_file():
        store, name = Path(name), None
    opened = Store.open(store, create=False)
    if name is None:
        found = announced(store)
        if found is None:
            raise Refused(f"--watch: no grid has been run in {store}; allowed: the store of one")
        title, keys = found.title, list(found.keys)
    else:
        scenarios = cut(grid_named(name), asked).scenarios()
        title, keys = name, [task.key for task in tasks_of(scenarios, opened)]
    try:
        with GridProgress(console, len(keys), title=title) as progress:
            whole = watch(opened, keys, progress)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    say(console, f"{progress.pace.over} of {progress.pace.total} runs are there or failed")
    if not whole:
        say(console, "nobody is at work on the rest")
    if progress.failed or not whole:
        raise typer.Exit(FAULT)
