"""The figure of a comparison: accuracy by attack, a panel per aggregator."""

from statistics import fmean

from matplotlib.figure import Figure

from wola.ground.names import counted
from wola.report.figures.panels import NOTE, caption, panel_grid, share_legend
from wola.report.figures.selection import CannotDraw, described
from wola.report.figures.styles import line_styles, strategy_labels
from wola.report.names import parts_in_order
from wola.report.runs import Runs, values
from wola.report.scores import seed_values
from wola.report.short_names import short_names


def by_attack_figure(runs: Runs) -> Figure:
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
    figure, panels = panel_grid(1, len(rules), panel=(width, 3.0), sharey=True, least=6.5)
    step = 0.7 / max(1, len(styles))
    for axes, rule in zip(panels[0], rules, strict=True):
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        for rank, (strategy, style) in enumerate(styles.items()):
            for place, attack in enumerate(attacks):
                cell = found.filter(strategy=strategy, aggregator=rule, attack=attack)
                seeds: list[float] = cell["value"].to_list()
                if not seeds:
                    continue
                x, mean = place + (rank - (len(styles) - 1) / 2) * step, fmean(seeds)
                ends = [[mean - min(seeds)], [max(seeds) - mean]]
                look = {"color": style["color"], "marker": style["marker"], "linestyle": "none"}
                axes.errorbar([x], [mean], yerr=ends, label=labels[strategy], **look)
        axes.set_xticks(range(len(attacks)), [shown[attack] for attack in attacks], fontsize=NOTE)
        axes.set_xlim(-0.5, len(attacks) - 0.5)
        axes.set_title(titles[rule], fontsize=NOTE + 1)
    panels[0, 0].set_ylabel("accuracy over training (%)")
    share_legend(figure, panels.flat)
    datasets = ", ".join(described(name, "") for name in values(runs, "dataset"))
    seeds_there = counted(runs.table["seed"].n_unique(), "seed")
    caption(figure, f"{datasets}: accuracy over training by attack, {seeds_there}", runs.notes)
    return figure
