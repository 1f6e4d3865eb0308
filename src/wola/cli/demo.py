"""`wola demo`: the paper's story in a minute, without a download."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from wola.bench.executors.local import LocalExecutor
from wola.bench.grid import Grid
from wola.bench.marker import StoreError
from wola.bench.store import Store
from wola.cli.bench import carry_out
from wola.cli.errors import FAULT, Refused
from wola.cli.screen import say, screen
from wola.report.attack_board import attack_boards, worst_and_mean
from wola.report.forms import terminal
from wola.report.runs import Runs, read_runs
from wola.report.scores import scores

#: What is demonstrated: 17 workers, 6 of them Byzantine, label mixes of Dir(0.3).
GRID = Grid(
    {"dataset": "digits", "alpha": 0.3, "byzantine": 6},
    {
        "strategy": ("-", "NNM", "WoLA", "WoLA+NNM"),
        "aggregator": ("trimmed-mean", "multi-krum(power=1)"),
        "attack": ("alie", "foe", "lf", "mimic", "sf"),
        "seed": (1, 2, 3),
    },
)

_CAPTION = (
    "Test accuracy in %, averaged over training (standard deviation over seeds); ¹ ² ³ mark the "
    "best three of a column. worst: the attack that hurts most, chosen for each rule."
)


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the results go.")] = Path("demo"),
    processes: Annotated[
        int | None,
        typer.Option(min=1, show_default=False, help="Runs at once (default: one per core)."),
    ] = None,
) -> None:
    """Show the paper's story on digits in a minute.

    Four strategies, two rules, five attacks and three seeds on handwritten digits, which need no
    download. Prints tables, and makes a picture and a page to look at.
    """
    demonstrate(GRID, out, processes=processes, console=screen())


def demonstrate(grid: Grid, out: Path, *, processes: int | None, console: Console) -> Path:
    """Runs the grid into ``out/store`` and reports on it; the page that was made."""
    scenarios = grid.scenarios()
    try:
        store = Store.open(out / "store")
    except StoreError as error:
        raise Refused(str(error)) from None
    axes = " x ".join(f"{len(some)} {name}" for name, some in grid.axes.items())
    say(console, f"{len(scenarios)} runs: {axes}")
    done = carry_out(console, scenarios, store, LocalExecutor(processes), title="demo")
    if not done.whole:
        raise typer.Exit(FAULT)
    runs = read_runs(store)
    for table in attack_boards(runs):
        console.print(terminal(table, console))
    say(console, _CAPTION)
    say(console, "")
    say(console, words_for(runs))
    picture, page = _pictures(runs, out)
    say(console, "")
    say(console, f"picture: {picture}")
    say(console, f"page:    {page}")
    return page


def words_for(runs: Runs) -> str:
    """What one sees, in plain sentences made from the numbers."""
    found = worst_and_mean(runs)
    best = max(found, key=lambda name: found[name][1])
    (worst, mean), (worst_alone, mean_alone) = found[best], found["-"]
    rows = scores(runs, metric="dissimilarity")
    apart = dict(zip(rows["strategy"], rows["mean"], strict=True))
    ratio = max(apart[best], apart["-"]) / min(apart[best], apart["-"])
    change = "smaller" if apart[best] < apart["-"] else "larger"
    scenario = GRID.scenarios()[0]
    return (
        f"With {scenario.byzantine} of {scenario.workers} workers lying, {best} keeps the most "
        f"accuracy: {mean:.1f} % over all attacks and rules, {worst:.1f} % under the worst attack; "
        f"a rule alone ('-') keeps {mean_alone:.1f} % and {worst_alone:.1f} %. Under {best} the "
        f"dissimilarity of honest updates is {ratio:.1f} times {change} than under '-' "
        f"({apart[best]:.3g} against {apart['-']:.3g}): the less honest workers differ, the less "
        "room is left to lie in."
    )


def _pictures(runs: Runs, out: Path) -> tuple[Path, Path]:
    # Matplotlib takes a second to import, which other commands need not wait for.
    from wola.report.figures import draw_all
    from wola.report.page import write_page

    alie = runs.where(attack=["alie"])
    drawn = draw_all(alie, out / "figures", ("png",), names=("training",))
    return drawn.files[0], write_page(runs, out / "report")
