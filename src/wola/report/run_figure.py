"""The figure of one run: accuracy and dissimilarity over training, and who was listened to."""

import polars as pl
from matplotlib.figure import Figure

from wola.ground.names import worker_names
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.panels import GRID, caption, few_ticks, panel_grid, panel_title
from wola.report.figures.weight_maps import draw_weights
from wola.report.names import strategy_name
from wola.report.short_names import short_names, short_strategies
from wola.training import Result

_PANEL = (3.2, 2.4)


def run_figure(result: Result, *, style: FigureStyle = SCREEN) -> Figure:
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
    count = 2 if weighed.is_empty() else 3
    across = style.across(count, _PANEL[0])
    shape = (1, count) if across == count else (count, 1)
    figure, grid = panel_grid(style, *shape, panel=_PANEL, least=7.0, shaped=True)
    panels = grid.flatten()
    curves = {
        "accuracy": "test accuracy (%)",
        "dissimilarity_momenta": "dissimilarity of\nhonest momenta",
    }
    for axes, (name, label) in zip(panels, curves.items(), strict=False):
        line = steps.filter(pl.col(name).is_finite())
        axes.grid(**GRID)
        look = {"color": "#0072B2", "marker": "o" * (len(line) < 30)}
        sizes = {"linewidth": 1.5 * style.scale, "markersize": 5 * style.scale}
        axes.plot(line["step"], line[name], **look, **sizes)
        axes.set_xlabel("step")
        axes.set_ylabel(label)
    if (steps["dissimilarity_momenta"] > 0).any():
        panels[1].set_yscale("log")
    if not weighed.is_empty():
        axes = panels[2]
        share = draw_weights(
            axes, weighed.with_columns(run=pl.lit("this")), scenario.byzantine, style
        )
        names = worker_names(scenario.workers, scenario.honest)
        ticks = sorted({0, scenario.honest - 1, scenario.workers - 1})
        axes.set_yticks(ticks, [names[tick] for tick in ticks])
        axes.set_xlabel("step")
        axes.set_ylabel("worker" + " (B: Byzantine)" * (scenario.byzantine > 0))
        panel_title(axes, f"Byzantine: {share}" if scenario.byzantine else "", style)
    few_ticks(panels, style)
    shown = {text: short_names([text])[text] for text in (scenario.dataset, scenario.attack)}
    named = strategy_name(scenario.model_dump())
    strategy = short_strategies([named])[named]
    rule = short_names([scenario.aggregator])[scenario.aggregator]
    caption(
        figure,
        style,
        f"{shown[scenario.dataset]} under {shown[scenario.attack]}, f = {scenario.byzantine} of "
        f"{scenario.workers} workers, {rule}, {strategy}, seed "
        f"{scenario.seed}: {result.accuracy:.1f} % over training",
        [] if result.ending == "finished" else [result.ending],
    )
    return figure
