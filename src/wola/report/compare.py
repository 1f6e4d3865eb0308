"""A comparison in three lines: a small grid run on all cores, as a table, a figure and a frame."""

import io
import shutil
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import Console

from wola.bench.grid import Grid, axis_value
from wola.bench.run import check_importable
from wola.bench.store import Store
from wola.data import Dataset
from wola.parts import Call, Unimportable, written
from wola.report.attack_board import attack_boards, worst_and_mean
from wola.report.figure_style import SCREEN, FigureStyle, figure_style
from wola.report.forms import terminal
from wola.report.forms.html import html
from wola.report.layout import Table
from wola.report.metrics import METRICS
from wola.report.names import file_word
from wola.report.runs import Runs, values
from wola.report.settings import TABLE_AXES
from wola.report.short_names import short_names, short_strategies
from wola.report.small_grid import run_in_memory, run_in_store
from wola.training import PARTS, STRATEGIES, Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The strategies that are compared if none are named.
COMPARED_STRATEGIES = ("-", "NNM", "WoLA", "WoLA+NNM")

#: So much of a dataset's SHA-256 names its file in a store.
_DIGEST = 16

_WIDTH = 100
_NUMBERS = (*(metric.column for metric in METRICS.values()), "ending")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The runs of a comparison: `runs` as a report has them, and ways to look at them."""

    runs: Runs

    def __repr__(self) -> str:
        """The comparison in three lines."""
        several = {"strategy": "strategies"}
        found = {axis: len(values(self.runs, axis)) for axis in TABLE_AXES[3:]}
        counts = [
            f"{number} {axis if number == 1 else several.get(axis, f'{axis}s')}"
            for axis, number in found.items()
        ]
        datasets = ", ".join(short_names(values(self.runs, "dataset")).values())
        return (
            f"Comparison on {datasets}: {', '.join(counts)}; {len(self.runs.table)} done\n"
            f"  {self._best()}\n"
            "  .table(), .plot(), .frame(), .runs"
        )

    def _best(self) -> str:
        found = {k: v for k, v in worst_and_mean(self.runs).items() if v[0] is not None}
        if not found:
            return "no strategy has all its runs"
        best = max(found, key=lambda name: found[name])
        shown = short_strategies(found, self.runs.strategies)[best]
        worst, mean = found[best]
        return f"best in the worst case: {shown}, {worst:.1f} %; {mean:.1f} % over all attacks"

    def tables(self) -> list[Table]:
        """A table per aggregator, and one over all: strategies by attack."""
        groups = self.runs.grouped("dataset", "setting", "alpha", "byzantine")
        made = [attack_boards(some) for _, some in groups]
        # The last one, over all rules, says nothing new if there is one rule.
        return [table for boards in made for table in (boards[:1] if len(boards) == 2 else boards)]

    def table(self, width: int = _WIDTH) -> str:
        """The tables as text, `width` signs wide at most, with notes on what is out of line."""
        console = Console(file=io.StringIO(), width=width, color_system=None)
        with console.capture() as text:
            for table in self.tables():
                console.print(terminal(table, console))
            for note in self.runs.notes:
                console.print(note, markup=False, highlight=False)
        return "\n".join(line.rstrip() for line in text.get().splitlines()) + "\n"

    def plot(self, *, style: str | FigureStyle = SCREEN) -> "Figure":
        """A figure: accuracy by attack, a panel per aggregator, a line of points per strategy.

        `style` is a text such as "paper(width=6.9)" or "slides", or a value of its kind.
        """
        # Matplotlib takes a second to import, which a table need not wait for.
        from wola.report.figures.by_attack import by_attack_figure

        return by_attack_figure(self.runs, style=figure_style(style))

    def frame(self) -> pl.DataFrame:
        """A row per run: what places it, and its numbers."""
        table = self.runs.table.select(*TABLE_AXES, "setting", *_NUMBERS)
        return table.sort(*TABLE_AXES)

    def _repr_html_(self) -> str:
        """The tables, for a notebook."""
        return "".join(map(html, self.tables()))


def compare(
    strategies: Iterable[str] | Mapping[str, Mapping[str, Any]] | None = None,
    aggregators: Any = None,
    attacks: Any = None,
    dataset: Any = "digits",
    seeds: Sequence[int] = (1,),
    *,
    store: str | PathLike[str] | Store | None = None,
    processes: int | None = None,
    progress: bool = True,
    **fields: Any,
) -> Comparison:
    """Runs every strategy with every aggregator under every attack, and compares them.

    `strategies` are names of the paper's, or a mapping from names to the fields that each sets; in
    a mapping one of the paper's has no fields. `aggregators` and `attacks` are texts or the parts
    themselves, one or several; `dataset` is a text, a source or a `Dataset`; further fields of a
    scenario, such as ``byzantine=4``, hold for all runs. The runs are done on all cores, or in so
    many `processes`, and kept in a `store` if one is given: what is there is not run again.

    Parts that other processes cannot import, because they are defined in a notebook or in the
    script itself, run here, one after the other, and cannot be kept in a store. The processes
    import the script that started them: a script puts its calls under
    ``if __name__ == "__main__":``, as everywhere with multiprocessing.

    >>> found = compare(["-", "WoLA"], "median", ["sf", "foe"], "iris", progress=False, steps=5)
    >>> len(found.frame())
    4
    """
    names, own = _strategies(strategies)
    axes = {"strategy": names, "aggregator": aggregators, "attack": attacks, "seed": seeds}
    base = {k: axis_value(k, v) if k in PARTS.kinds else v for k, v in fields.items()}
    grid = Grid(base, {k: v for k, v in axes.items() if v is not None}, strategies=own)
    here = _only_here(grid)
    if here and store is not None:
        check_importable(Scenario(**here))
    kept, remove = _opened(store)
    try:
        grid = grid.changed(**_named(dataset, kept, base))
        scenarios = grid.scenarios()
        if here:
            runs = run_in_memory(scenarios, grid, progress)
        else:
            runs = run_in_store(scenarios, grid, kept, processes, progress)
    except BaseException:
        remove()
        raise
    weakref.finalize(runs, remove)
    return Comparison(runs)


def _strategies(given: Any) -> tuple[list[str], dict[str, Mapping[str, Any]]]:
    """The names on the axis, and what those of one's own set."""
    if given is None:
        return list(COMPARED_STRATEGIES), {}
    if not isinstance(given, Mapping):
        return [given] if isinstance(given, str) else list(given), {}
    own = {name: sets for name, sets in given.items() if sets or name not in STRATEGIES}
    return list(given), own


def _opened(store: str | PathLike[str] | Store | None) -> tuple[Store, Callable[[], None]]:
    """The store, and what takes it away again if it is a temporary one."""
    if store is None:
        folder = mkdtemp(prefix="wola-compare-")
        return Store.open(folder), partial(shutil.rmtree, folder, ignore_errors=True)
    return store if isinstance(store, Store) else Store.open(store), lambda: None


def _only_here(grid: Grid) -> dict[str, Any]:
    """A part that other processes cannot import, by its field; nothing if there is none."""
    base = {} if isinstance(grid.base, Scenario) else grid.base
    single = [*base.items(), *(pair for sets in grid.strategies.values() for pair in sets.items())]
    several = [(name, value) for name, values in grid.axes.items() for value in values]
    found = [pair for pair in (*single, *several) if isinstance(pair[1], Unimportable)]
    return dict(found[:1])


def _named(dataset: Any, store: Store, base: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a dataset; one that is there already is kept in the store, under its name."""
    if not isinstance(dataset, Dataset):
        return {"dataset": dataset}
    path = store.path / "data" / dataset.digest()[:_DIGEST] / f"{file_word(dataset.name)}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        dataset.save(path)
    clients = {} if dataset.clients is None or "partition" in base else {"partition": "clients"}
    return {"dataset": written(Call("npz", (("path", path),))), **clients}
