"""The figure of a comparison: accuracy by attack, a panel per aggregator."""

from statistics import fmean

from matplotlib.figure import Figure

from wola.ground.names import counted
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.panels import GRID, caption, panel_grid, panel_title, share_legend
from wola.report.figures.selection import CannotDraw, described
from wola.report.figures.strategy_styles import line_styles, strategy_labels
from wola.report.names import parts_in_order
from wola.report.runs import Runs, values
from wola.report.scores import seed_values
from wola.report.short_names import short_names


def by_attack_figure(runs: Runs, *, style: FigureStyle = SCREEN) -> Figure:
    """Accuracy over training by attack, for each strategy, a panel per aggregator.

    A point is the mean over the seeds that are there, its bar from the lowest to the highest.
    """
    if runs.table.is_empty():
        raise CannotDraw("there are no runs")
    rules, attacks = (parts_in_order(values(runs, axis)) for axis in ("aggregator", "attack"))
    shown, titles = short_names(attacks), short_names(rules)
    labels, styles = strategy_labels(runs), line_styles(values(runs, "strategy"))
    found = seed_values(runs, by=("aggregator", "attack"))
    width = max(2.6, 0.5 * len(attacks) + 1.2)
    across = style.across(len(rules), width)
    figure, panels = panel_grid(
        style, -(-len(rules) // across), across, panel=(width, 2.6), sharey=True, least=6.5
    )
    step = 0.7 / max(1, len(styles))
    thin = {"linewidth": 1.4 * style.scale, "markersize": 5 * style.scale}
    for axes, rule in zip(panels.flat, rules, strict=False):
        axes.grid(axis="y", **GRID)
        for rank, (strategy, given) in enumerate(styles.items()):
            for place, attack in enumerate(attacks):
                cell = found.filter(strategy=strategy, aggregator=rule, attack=attack)
                seeds: list[float] = cell["value"].to_list()
                if not seeds:
                    continue
                x, mean = place + (rank - (len(styles) - 1) / 2) * step, fmean(seeds)
                ends = [[mean - min(seeds)], [max(seeds) - mean]]
                look = {"color": given["color"], "marker": given["marker"], "linestyle": "none"}
                axes.errorbar([x], [mean], yerr=ends, label=labels[strategy], **look, **thin)
        axes.set_xticks(range(len(attacks)), [shown[attack] for attack in attacks])
        axes.set_xlim(-0.5, len(attacks) - 0.5)
        panel_title(axes, titles[rule], style)
    for axes in panels.flat[len(rules) :]:
        axes.set_axis_off()
    for axes in panels[:, 0]:
        axes.set_ylabel("accuracy over training (%)")
    share_legend(figure, panels.flat, style)
    datasets = ", ".join(described(name, "") for name in values(runs, "dataset"))
    seeds_there = counted(runs.table["seed"].n_unique(), "seed")
    title = f"{datasets}: accuracy over training by attack, {seeds_there}"
    caption(figure, style, title, runs.notes)
    return figure
