"""`wola demo`: the paper's story in a minute, without a download."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer
from rich.console import Console

from wola.cli.demo.figure import demo_figure
from wola.cli.demo.plan import Plan, Run
from wola.cli.demo.pool import run_all
from wola.cli.demo.scores import boards, mean_dissimilarity, reading
from wola.cli.demo.table import WIDE, board_table
from wola.cli.doctor import cores
from wola.cli.faults import INTERRUPTED
from wola.cli.pictures import save_picture
from wola.cli.screen import say, screen
from wola.cli.watching import progress_bar, time_left
from wola.training import SEMANTICS
from wola.training.files import write_whole

LINES = 10


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the results go.")] = Path("demo"),
    processes: Annotated[
        int | None, typer.Option(min=1, help="Processes to run in (default: one per core).")
    ] = None,
) -> None:
    """Show the paper's story on digits in a minute.

    Four strategies, two rules, five attacks and three seeds on handwritten digits, which need no
    download: tables, a picture (demo.png) and all numbers (demo.json).
    """
    demonstrate(Plan(), out, processes=processes or cores(), console=screen())


def demonstrate(plan: Plan, out: Path, *, processes: int, console: Console) -> None:
    """Runs the plan, prints the tables, and keeps numbers and picture in the folder ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    begun = monotonic()
    try:
        runs = watch_all(plan, processes=processes, console=console)
    except KeyboardInterrupt:
        say(console, "interrupted: nothing was written")
        raise typer.Exit(INTERRUPTED) from None
    seconds = monotonic() - begun
    for board in boards(plan, runs):
        console.print(board_table(board, width=console.width))
    say(console, _caption(console.width))
    say(console, "")
    say(console, reading(plan, runs))
    write_whole(out / "demo.json", as_json(plan, runs))
    save_picture(demo_figure(plan, runs), out / "demo.png")
    say(console, "")
    say(
        console,
        f"{len(runs)} runs in {seconds:.1f} s on {processes} processes; picture "
        f"{out / 'demo.png'}, numbers {out / 'demo.json'}",
    )


def watch_all(plan: Plan, *, processes: int, console: Console) -> list[Run]:
    """Runs the plan under a live bar, or with a line now and then in a pipe."""
    total = len(list(plan.cells()))
    begun, done = monotonic(), 0
    say(console, f"{total} runs: {_counted(plan)}")
    with progress_bar(console) as bar:
        task = bar.add_task("runs", total=total)

        def on_done(_: Run) -> None:
            nonlocal done
            done += 1
            bar.update(task, completed=done)
            if not console.is_terminal and done % max(1, total // LINES) == 0:
                say(console, f"run {done}/{total}  {time_left(monotonic() - begun, done, total)}")

        return run_all(plan, processes=processes, on_done=on_done)


def _caption(width: int) -> str:
    spread = " (standard deviation over seeds)" if width >= WIDE else ""
    return (
        f"Test accuracy in %, averaged over training{spread}; ¹ ² ³ mark the best three of a "
        "column. worst: the attack that hurts most, chosen for each rule, averaged over rules."
    )


def _counted(plan: Plan) -> str:
    parts = {
        "strategies": plan.strategies,
        "rules": plan.aggregators,
        "attacks": plan.attacks,
        "seeds": plan.seeds,
    }
    return " x ".join(f"{len(some)} {name}" for name, some in parts.items())


def as_json(plan: Plan, runs: Sequence[Run]) -> bytes:
    """All numbers: the plan, the boards, the runs; the same bytes for the same plan."""
    made: dict[str, Any] = {
        "semantics": SEMANTICS,
        "plan": asdict(plan),
        "reading": reading(plan, runs),
        "boards": [asdict(board) for board in boards(plan, runs)],
        "dissimilarity": {name: mean_dissimilarity(runs, name) for name in plan.strategies},
        "runs": [asdict(one) for one in runs],
    }
    return (json.dumps(made, indent=1, allow_nan=False) + "\n").encode()
