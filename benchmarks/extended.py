"""Every rule with WoLA and without, under every kind of attack, on digits: `make extended`.

`results/extended` has a grid for each alpha, f and seed, in the order of their names, and
`runs.parquet` with the numbers of the runs that are done. Whoever runs this goes on with the first
grid that is not done, on all cores, until it is stopped or all are done. `make extended-report`
writes `results/extended.md` from that table.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from benchmarks.resumable import ResumableTable, go_on, options
from wola.ground.files import write_whole

COLUMNS = Path("results/extended")
STORE = Path("extended/store")
#: What the last column of a matrix is called.
WORST = "worst"


def main(arguments: list[str] | None = None) -> int:
    """Goes on with the grids; the exit code is 1 if a run failed."""
    about = __doc__.splitlines()[0]
    asked = options("benchmarks.extended", about, COLUMNS, STORE).parse_args(arguments)
    table = ResumableTable(asked.columns)
    if not asked.report:
        return go_on(table, asked.store, asked.processes)
    page = asked.columns.with_suffix(".md")
    write_whole(page, report(table).encode())
    print(f"written: {page}")
    return 0


def report(table: ResumableTable) -> str:
    """The page: a matrix for each alpha and f, and where WoLA does not win."""
    answers = table.answered()
    seeds = sorted(answers["seed"].unique())
    lines = [
        "# Every rule, with WoLA and without",
        "",
        "Digits, n = 17, the paper's training; the server holds 100 samples of its own, ten of "
        "each class, in every run, so that all rules train on the same data. Accuracy over "
        f"training in %, mean over the seeds that are there (of {', '.join(map(str, seeds))}). "
        "`worst` is the lowest of a row. The best of each column is bold; a dash is a search "
        "against a rule that asks for losses or gradients, or that solves many groups, which takes "
        "minutes a run. Steps of `normalised-mean` and `bygars` have lengths of their own, so part "
        "of what they gain or lose is the learning rate. Made by "
        "`make extended-report` from `results/extended/runs.parquet`; `make extended` adds runs.",
        "",
        *summary(answers),
    ]
    wanted = expected(table)
    for (alpha, f), some in answers.group_by("alpha", "byzantine", maintain_order=True):
        lines += matrix(float(alpha), int(f), some, wanted[alpha, f])
    return "\n".join(lines) + "\n"


def expected(table: ResumableTable) -> dict[tuple[float, int], dict[tuple[str, str], set[str]]]:
    """The attacks that the grids have for each rule and strategy, by alpha and f."""
    made: dict[tuple[float, int], dict[tuple[str, str], set[str]]] = {}
    for scenario in table.scenarios():
        cells = made.setdefault((scenario.alpha, scenario.byzantine), {})
        row = (scenario.aggregator, str(scenario.strategy))
        cells.setdefault(row, set()).add(scenario.attack)
    return made


def means(some: pl.DataFrame) -> pl.DataFrame:
    """The mean accuracy of each rule, strategy and attack over the seeds there are."""
    place = ["aggregator", "strategy", "attack"]
    return some.group_by(place, maintain_order=True).agg(
        pl.col("accuracy").mean(), seeds=pl.col("seed").n_unique()
    )


def summary(answers: pl.DataFrame) -> list[str]:
    """How often WoLA beats the same rule without it, and where it does not."""
    cells = answers.group_by("alpha", "byzantine", "aggregator", "attack", "strategy").agg(
        pl.col("accuracy").mean()
    )
    wide = cells.pivot("strategy", values="accuracy", index=cells.columns[:4]).sort(
        "alpha", "byzantine", "aggregator", "attack"
    )
    both = wide.drop_nulls(["-", "WoLA"]).with_columns(gain=pl.col("WoLA") - pl.col("-"))
    better = both.filter(pl.col("gain") > 0)
    lines = [
        f"With the WoLA loss the same rule under the same attack is better in {len(better)} of "
        f"{len(both)} cells, by {both['gain'].median():.1f} points in the middle one. By rule, "
        "over all attacks and columns that are there:",
        "",
        "| rule | plain | WoLA | gain | worse in |",
        "|---|---|---|---|---|",
    ]
    for (rule,), some in both.group_by("aggregator", maintain_order=True):
        worse = some.filter(pl.col("gain") <= 0)
        lines.append(
            f"| {rule} | {some['-'].mean():.1f} | {some['WoLA'].mean():.1f} | "
            f"{some['gain'].mean():+.1f} | {len(worse)} of {len(some)} |"
        )
    losses = both.filter(pl.col("gain") < -1).sort("gain")
    lines += ["", f"Where WoLA loses more than a point ({len(losses)} cells):", ""]
    lines += [
        f"- alpha {row['alpha']:g}, f {row['byzantine']}, {row['aggregator']}, {row['attack']}: "
        f"{row['-']:.1f} without, {row['WoLA']:.1f} with"
        for row in losses.iter_rows(named=True)
    ]
    return [*lines, ""]


def matrix(
    alpha: float, f: int, some: pl.DataFrame, wanted: Mapping[tuple[str, str], set[str]]
) -> list[str]:
    """One table: a row for each rule and strategy that is done, a column for each attack."""
    cells = means(some)
    attacks = list(dict.fromkeys(cells["attack"]))
    shown = list(rows_of(cells, wanted))
    best = {
        column: max((row[column] for _, row in shown if column in row), default=None)
        for column in (*attacks, WORST)
    }
    seeds = cells["seeds"]
    lines = [
        f"## alpha {alpha:g}, f = {f} ({seeds.min()} to {seeds.max()} seeds)",
        "",
        f"| rule | {' | '.join(attacks)} | {WORST} |",
        f"|---|{'---|' * (len(attacks) + 1)}",
    ]
    for name, row in shown:
        told = (cell(row.get(column), best[column]) for column in (*attacks, WORST))
        lines.append(f"| {name} | {' | '.join(told)} |")
    return [*lines, ""]


def cell(value: float | None, best: float | None) -> str:
    """A number, bold if it is the best of its column; a dash where no run belongs.

    >>> cell(71.26, 80.0), cell(80.0, 80.0), cell(None, 80.0)
    ('71.3', '**80.0**', '-')
    """
    if value is None:
        return "-"
    return f"**{value:.1f}**" if value == best else f"{value:.1f}"


def rows_of(
    cells: pl.DataFrame, wanted: Mapping[tuple[str, str], set[str]]
) -> Iterator[tuple[str, dict[str, float]]]:
    """The rows that have all attacks that belong to them, by rule and strategy."""
    for (rule, strategy), some in cells.group_by("aggregator", "strategy", maintain_order=True):
        row = dict(some.select("attack", "accuracy").iter_rows())
        if row.keys() >= wanted[rule, strategy]:
            name = rule if strategy == "-" else f"{rule}, {strategy}"
            yield str(name), {**row, WORST: min(row.values())}


if __name__ == "__main__":
    sys.exit(main())
