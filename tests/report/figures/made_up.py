"""Runs that nobody has trained, with every file that a figure reads."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.report.made_up import parquet, put
from wola.bench import representative
from wola.bench.grid import Grid
from wola.bench.store import Store
from wola.report.runs import Runs, read_runs
from wola.training import Scenario

#: Three workers of which one attacks, two classes, tested after every second of four steps.
BASE = {"dataset": "iris", "workers": 3, "byzantine": 1, "aggregator": "median"}
BASE |= {"steps": 4, "evaluate_every": 2}
SETTING = "workers 3, steps 4, evaluate_every 2"

Number = Callable[[Scenario], float | None]


def keep(
    store: Store,
    scenario: Scenario,
    accuracy: float | None,
    *,
    weights: Sequence[float] | None = None,
    steps: int = 4,
    classes: Sequence[float | None] = (100.0, 0.0),
) -> None:
    """Puts a run into a store: accuracy halves at step 2, and dissimilarity is step + seed."""
    key = store.key(scenario)
    half = None if accuracy is None else accuracy / 2
    every = range(1, steps + 1)
    frame = pl.DataFrame(
        {
            "step": list(every),
            "dissimilarity_momenta": [float(step + scenario.seed) for step in every],
            "weights": [None if weights is None else list(weights)] * steps,
            "accuracy": [{2: half, 4: accuracy}.get(step) for step in every],
            "key": [key] * steps,
        },
        schema_overrides={"weights": pl.List(pl.Float32), "accuracy": pl.Float64},
    )
    counts = [[worker, 10 * worker] for worker in range(1, scenario.workers + 1)]
    put(
        store,
        scenario,
        parquet(frame),
        ending="finished" if steps == scenario.steps else "no honest update is finite",
        accuracy=accuracy,
        steps=steps,
        class_accuracies=list(classes),
        counts=counts,
        dissimilarity_momenta=1.0,
    )


def made_up(folder: Path, axes: dict[str, Any], accuracy: Number, **options: Any) -> Runs:
    """The runs of a grid over `BASE`, each with the accuracy it is given; None leaves it out."""
    store = Store.open(folder / "store")
    base = {name: value for name, value in BASE.items() if name not in axes}
    scenarios = Grid(base, axes).scenarios()
    store.note_coincidences(zip(scenarios, map(representative, scenarios), strict=True))
    for scenario in scenarios:
        number = accuracy(scenario)
        if number is not None and not store.is_done(store.key(scenario)):
            keep(store, scenario, number, **options)
    return read_runs(store)


def panels(figure: Figure) -> list[Axes]:
    """The panels of a figure, without its scales of colour."""
    return [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


def lines(axes: Axes) -> dict[str, tuple[list[float], list[float]]]:
    """The lines of a panel that a legend names: x and y by label."""
    return {
        str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.get_lines()
        if not str(line.get_label()).startswith("_")
    }


def words(figure: Figure) -> str:
    """The title of a figure in one line."""
    return " ".join(figure.get_suptitle().split())


def bands(axes: Axes) -> list[tuple[float, float]]:
    """The lowest and the highest point of each band of a panel."""
    heights = [part.get_paths()[0].vertices[:, 1] for part in axes.collections]
    return [(float(found.min()), float(found.max())) for found in heights]
