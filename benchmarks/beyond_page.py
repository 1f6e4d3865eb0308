"""The page of the strategies beside the paper's: tables, what holds, and the curves."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from benchmarks.beyond_tables import (
    ADAPTIVE,
    FIVE,
    HULL,
    LEADING,
    PAPER,
    SEARCHES,
    SOFT_SET_HULL,
    STATISTICS,
    Cells,
    cells_of,
    columns_in_order,
    common_seeds,
    named_rows,
    wide_table,
)
from benchmarks.resumable import CURVE, ResumableTable
from wola.training import Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEW = ("WoLA-shift", "WoLA-shift+angle", HULL)
USUAL_RATE = Scenario.paper("digits").lr
#: The column that the figure shows, and what it shows there.
SHOWN = (0.3, 8)
CURVES = ("beyond", "span-search(evaluations=40)", "patient(attack=span-search(evaluations=40))")
#: Okabe and Ito's colours, told apart by people who see fewer of them.
COLOURS = {"WoLA+NNM": "#D55E00", "WoLA-shift+angle": "#0072B2", HULL: "#009E73"}

INTRODUCTION = """\
# Beyond the paper, on digits

**The question.** Do the strategies of [docs/beyond.md](../docs/beyond.md), which ask nobody for
labels, beat the paper's eight in every column, also in the worst case, at the end of training and
under attacks made for them?

n = 17, the paper's training. A column is alpha / f. Five attacks (`alie`, `foe`, `lf`, `mimic`,
`sf`) and four rules (trimmed mean, median, geometric median, Multi-Krum, as in `results/digits`);
`soft-set-hull` is a rule of its own. Numbers are in %, means over the seeds in the last row of a
table: those that the paper's eight and the new strategies all have. Seeds 4 to 6 were used to
choose nothing. The best of a column is bold; a dash is not done yet."""

BEST_RULE = """\
These are means, and the worst, over four rules, while `soft-set-hull` is one. So once more with the
rule that suits each strategy best, chosen anew for each column and number by the outcome, which is
more than anyone can know beforehand:"""

COMMANDS = """\
## Commands

`make beyond` goes on with the first grid of `results/beyond` that is not done, on all cores;
`python -m benchmarks.beyond --processes 1` takes one. In all there are 25,350 runs beside those of
`results/digits`, about 21 hours on one core of a busy machine: 2 s for a run under the five
attacks, 4 s with `soft-set-hull`; under a search 12 to 24 s, with `soft-set-hull` 110 to 160 s.
`make beyond-report` makes this page and its figure from `results/beyond/runs.parquet` and
`results/digits/runs.parquet`."""

#: Which rules stand for a strategy where one is enough.
ONE_RULE = ("trimmed-mean", SOFT_SET_HULL)


def page(table: ResumableTable, figure: str) -> str:
    """The page in Markdown."""
    asked = named_rows(table.asked())
    usual = asked.filter(lr=USUAL_RATE)
    five = usual.filter(pl.col("attack").is_in(FIVE))
    cells = cells_of(five, LEADING)
    parts = [INTRODUCTION]
    for name, (title, _) in STATISTICS.items():
        parts += [f"## {title}", wide_table(cells, name)]
    parts += ["## What holds and what does not", seeds_told(cells), *holds(cells), BEST_RULE]
    parts += holds(cells_of(five, LEADING, best_rule=True))
    parts += ["## Searches against the server's own rule", searches(usual)]
    parts += ["## Attacks made for rules like these", *adaptive(usual)]
    where = f"alpha {SHOWN[0]:g}, f = {SHOWN[1]}"
    parts.append(f"While training at {where}, a line for each seed:")
    parts.append(f"![Accuracy while training, {where}]({figure})")
    parts += ["## Learning rate", learning_rates(asked)]
    return "\n\n".join([*parts, progress(asked), COMMANDS]) + "\n"


def seeds_told(cells: Cells) -> str:
    """How many seeds there are in the columns."""
    counts = [len(seeds) for seeds in cells.seeds.values()]
    if not counts:
        return "There is no seed yet."
    told = str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return f"Seeds for each column that this rests on: {told}."


def holds(cells: Cells) -> list[str]:
    """For each new strategy where it stands against the best of the paper's eight."""
    told = []
    for row in NEW:
        lines = [f"`{row}` against the best of the paper's eight in each column:", ""]
        for name, (title, _) in STATISTICS.items():
            gains = {
                column: of_row[name] - max(cells.numbers[paper, column][name] for paper in PAPER)
                for column in cells.columns
                if (of_row := cells.numbers.get((row, column))) is not None
            }
            if gains:
                above = sum(gain > 0 for gain in gains.values())
                low = min(gains, key=lambda column: gains[column])
                behind = [told_column(c) for c, gain in gains.items() if gain < -0.5]
                lost = f"; more than half a point below at {', '.join(behind)}" if behind else ""
                lines.append(
                    f"- {title.lower()}: above in {above} of {len(gains)} columns, least "
                    f"{gains[low]:+.1f} points at {told_column(low)}{lost}"
                )
        if len(lines) > 2:
            told.append("\n".join(lines))
    return told or ["No column is done yet."]


def told_column(column: tuple[float, int]) -> str:
    """How a column is called.

    >>> told_column((0.3, 8))
    '0.3/8'
    """
    return f"{column[0]:g}/{column[1]}"


def searches(usual: pl.DataFrame) -> str:
    """The lower of two searches, for the leading strategies with the trimmed mean."""
    rows = ("NNM", "WoLA+NNM", *NEW)
    found = usual.filter(
        pl.col("attack").is_in(SEARCHES)
        & pl.col("aggregator").is_in(ONE_RULE)
        & pl.col("row").is_in(rows)
    )
    told = (
        "`worst-of` takes the worst of nine attacks each round, `span-search` the worst of 40 "
        "updates of the honest span; the lower accuracy over training of the two, trimmed mean."
    )
    return f"{told}\n\n{wide_table(cells_of(found, rows), 'worst')}"


def adaptive(usual: pl.DataFrame) -> list[str]:
    """A matrix for each column: the leading strategies against the attacks made for them."""
    rows = ("WoLA+NNM", "WoLA-shift+angle", HULL)
    found = usual.filter(
        pl.col("attack").is_in(ADAPTIVE)
        & pl.col("aggregator").is_in(ONE_RULE)
        & pl.col("row").is_in(rows)
    )
    parts = [
        "`beyond` lies a fixed angle beyond one honest worker in every round, `patient` copies a "
        "worker for 50 rounds and then searches. Accuracy over training, trimmed mean, the mean "
        "over the seeds and the lowest of them."
    ]
    for column in columns_in_order(found.filter(attack="beyond")):
        some = found.filter(alpha=column[0], byzantine=column[1])
        lines = [f"| {told_column(column)} | {' | '.join(ADAPTIVE.values())} |"]
        lines.append(f"|---|{'---|' * len(ADAPTIVE)}")
        for row in rows:
            told = [_mean_and_lowest(some.filter(attack=a), row, rows) for a in ADAPTIVE]
            lines.append(f"| {row} | {' | '.join(told)} |")
        parts.append("\n".join(lines))
    return parts


def _mean_and_lowest(some: pl.DataFrame, row: str, rows: Sequence[str]) -> str:
    seeds = common_seeds(some, rows)
    values = some.filter(pl.col("seed").is_in(seeds), row=row)["accuracy"].to_list()
    return f"{sum(values) / len(values):.1f} ({min(values):.1f})" if values else "-"


def learning_rates(asked: pl.DataFrame) -> str:
    """Half, same and double: mean, worst and final accuracy of the leading four."""
    rows = ("NNM", "WoLA+NNM", "WoLA-shift+angle", HULL)
    some = asked.filter(
        pl.col("row").is_in(rows)
        & pl.col("attack").is_in(FIVE)
        & pl.col("aggregator").is_in(ONE_RULE)
        & (pl.col("alpha") == 0.3)
        & pl.col("byzantine").is_in([2, 6])
        & (pl.col("seed") <= 3)
    )
    rates = [USUAL_RATE / 2, USUAL_RATE, 2 * USUAL_RATE]
    by_rate = {rate: cells_of(some.filter(lr=rate), rows) for rate in rates}
    columns = [(0.3, 2), (0.3, 6)]
    heads = [f"{told_column(c)}, lr {rate:g}" for c in columns for rate in rates]
    lines = [
        "Is it the step size? Five attacks, trimmed mean, half, same and double the learning rate: "
        "mean / worst / final accuracy.",
        "",
        f"| strategy | {' | '.join(heads)} |",
        f"|---|{'---|' * len(heads)}",
    ]
    for row in rows:
        told = [_three(by_rate[rate], row, column) for column in columns for rate in rates]
        lines.append(f"| {row} | {' | '.join(told)} |")
    seeds = [_seeds_told(by_rate[rate], column) for column in columns for rate in rates]
    return "\n".join([*lines, f"| seeds | {' | '.join(seeds)} |"])


def _three(cells: Cells, row: str, column: tuple[float, int]) -> str:
    numbers = cells.numbers.get((row, column))
    return "-" if numbers is None else " / ".join(f"{numbers[name]:.1f}" for name in STATISTICS)


def _seeds_told(cells: Cells, column: tuple[float, int]) -> str:
    return ", ".join(map(str, cells.seeds.get(column, []))) or "-"


def progress(asked: pl.DataFrame) -> str:
    """How much is done."""
    done = asked["ending"].is_not_null().sum()
    return f"{done} of the {len(asked)} scenarios of the grids have a run."


def draw_curves(table: ResumableTable) -> bytes:
    """The leading strategies under attacks made for them while they train, as a PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.lines import Line2D

    runs = pl.read_parquet(table.path).filter(alpha=SHOWN[0], byzantine=SHOWN[1], lr=USUAL_RATE)
    figure, axes = plt.subplots(1, len(CURVES), figsize=(10, 3.6), sharey=True)
    figure.set_layout_engine("constrained")
    for panel, attack in zip(axes, CURVES, strict=True):
        _draw_panel(panel, named_rows(runs.filter(attack=attack)))
        panel.set_title(ADAPTIVE[attack], fontsize=10)
        panel.set_xlabel("round")
    axes[0].set_ylabel("accuracy in %")
    axes[0].set_ylim(0, 100)
    lines = [Line2D([], [], color=colour, label=row) for row, colour in COLOURS.items()]
    figure.legend(handles=lines, loc="outside lower center", ncols=len(lines))
    written = io.BytesIO()
    figure.savefig(written, dpi=150, metadata={"Software": None})
    plt.close(figure)
    return written.getvalue()


def _draw_panel(panel: "Axes", runs: pl.DataFrame) -> None:
    seeds = common_seeds(runs, tuple(COLOURS))
    for row, colour in COLOURS.items():
        some = runs.filter(pl.col("seed").is_in(seeds), row=row)
        for curve in some.sort("seed")[CURVE]:
            steps = [Scenario.paper("digits").evaluate_every * (k + 1) for k in range(len(curve))]
            panel.plot(steps, curve.to_list(), color=colour)
