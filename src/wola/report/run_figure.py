"""The figure of one run: accuracy and dissimilarity over training, and who was listened to."""

import polars as pl
from matplotlib.figure import Figure

from wola.ground.names import worker_names
from wola.report.figures.panels import caption, panel_grid
from wola.report.figures.weights import draw_weights
from wola.report.names import strategy_name
from wola.report.short_names import short_names, short_strategies
from wola.training import Result


def run_figure(result: Result) -> Figure:
    """Test accuracy, the honest workers' dissimilarity, and each worker's weight, by step.

    Rules that weigh single coordinates have no weights of workers: then there is no such panel.
    The figure belongs to nobody else's state, and a notebook shows it as it is.

    >>> from wola.training import Scenario, simulate
    >>> scenario = Scenario.paper("iris", steps=4, evaluate_every=2, aggregator="krum")
    >>> len(run_figure(simulate(scenario)).axes)
    3
    """
    steps, scenario = result.frame(), result.scenario
    weighed = steps.drop_nulls("weights")
    figure, panels = panel_grid(1, 2 if weighed.is_empty() else 3, panel=(3.4, 2.6), least=7.0)
    curves = {
        "accuracy": "test accuracy (%)",
        "dissimilarity_momenta": "dissimilarity of honest momenta",
    }
    for axes, (name, label) in zip(panels[0], curves.items(), strict=False):
        line = steps.filter(pl.col(name).is_finite())
        axes.grid(color="0.9", linewidth=0.6)
        axes.plot(line["step"], line[name], color="#0072B2", marker="o" * (len(line) < 30))
        axes.set_xlabel("step")
        axes.set_ylabel(label)
    if (steps["dissimilarity_momenta"] > 0).any():
        panels[0, 1].set_yscale("log")
    if not weighed.is_empty():
        axes = panels[0, 2]
        share = draw_weights(axes, weighed, scenario.byzantine)
        names = worker_names(scenario.workers, scenario.honest)
        ticks = sorted({0, scenario.honest - 1, scenario.workers - 1})
        axes.set_yticks(ticks, [names[tick] for tick in ticks])
        axes.set_xlabel("step")
        axes.set_ylabel("worker" + " (B: Byzantine)" * (scenario.byzantine > 0))
        axes.set_title(share if scenario.byzantine else "")
    shown = {text: short_names([text])[text] for text in (scenario.dataset, scenario.attack)}
    named = strategy_name(scenario.model_dump())
    strategy = short_strategies([named])[named]
    rule = short_names([scenario.aggregator])[scenario.aggregator]
    caption(
        figure,
        f"{shown[scenario.dataset]} under {shown[scenario.attack]}, f = {scenario.byzantine} of "
        f"{scenario.workers} workers, {rule}, {strategy}, seed "
        f"{scenario.seed}: {result.accuracy:.1f} % over training",
        [] if result.ending == "finished" else [result.ending],
    )
    return figure
