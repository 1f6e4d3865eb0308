"""Means, worst cases and final accuracies by strategy and column, over seeds that all have."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from wola.training import PAPER_STRATEGIES

PAPER = tuple(PAPER_STRATEGIES)
FIVE = ("alie", "foe", "lf", "mimic", "sf")
SEARCHES = ("worst-of", "span-search(evaluations=40)")
#: Attacks made for rules like these, and how a table calls them.
ADAPTIVE = {
    "beyond(angle=35)": "beyond 35°",
    "beyond": "beyond 45°",
    "beyond(angle=55)": "beyond 55°",
    "beyond(angle=65)": "beyond 65°",
    "span-search(evaluations=40)": "span-search",
    "patient(attack=span-search(evaluations=40))": "patient",
}
#: The rule that stands in place of clipping, mixing and rule, and the strategy that it makes.
SOFT_SET_HULL = "soft-set-hull"
HULL = f"WoLA-shift, {SOFT_SET_HULL}"
LEADING = (*PAPER, "WoLA-shift", "WoLA-shift+angle", HULL)
#: What a table shows: its title, and how a number comes from those of each rule and attack.
STATISTICS: Mapping[str, tuple[str, pl.Expr]] = {
    "mean": ("Mean accuracy over training", pl.col("accuracy").mean()),
    "worst": ("Worst rule and attack", pl.col("accuracy").min()),
    "final": ("Mean final accuracy", pl.col("final_accuracy").mean()),
}

Column = tuple[float, int]


@dataclass(frozen=True)
class Cells:
    """The numbers of each row in each column, and the seeds that they are means over.

    `leading` rows are complete wherever a column is there; other rows may lack some.
    """

    columns: list[Column]
    numbers: dict[tuple[str, Column], dict[str, float]]
    seeds: dict[Column, list[int]]
    leading: tuple[str, ...]

    def rows(self) -> list[str]:
        """The leading rows, then the others by alphabet."""
        others = {row for row, _ in self.numbers} - set(self.leading)
        return [*self.leading, *sorted(others)]


def named_rows(asked: pl.DataFrame) -> pl.DataFrame:
    """The same with `row`, what a table calls strategy and rule together."""
    hull = pl.col("aggregator") == SOFT_SET_HULL
    named = pl.when(hull).then(pl.format("{}, {}", "strategy", "aggregator"))
    return asked.with_columns(row=named.otherwise(pl.col("strategy")))


def columns_in_order(some: pl.DataFrame) -> list[Column]:
    """The columns that are there, the mildest skew and the fewest attackers first."""
    found = some.select("alpha", "byzantine").unique()
    ordered = found.sort("alpha", "byzantine", descending=[True, False])
    return [(float(alpha), int(f)) for alpha, f in ordered.iter_rows()]


def common_seeds(asked: pl.DataFrame, rows: Iterable[str]) -> list[int]:
    """The seeds for which each of the rows has all the runs that are asked for."""
    whole = [set(whole_seeds(asked).filter(row=row)["seed"]) for row in rows]
    return sorted(set.intersection(*whole))


def whole_seeds(asked: pl.DataFrame) -> pl.DataFrame:
    """Each row and seed that has a run wherever one is asked for."""
    ended = asked.group_by("row", "seed").agg(pl.col("ending").is_not_null().all())
    return ended.filter("ending").select("row", "seed")


def cells_of(asked: pl.DataFrame, leading: Sequence[str], *, best_rule: bool = False) -> Cells:
    """The cells of all columns in which the leading rows have a seed in common.

    A number of a row is made of its means over the seeds for each rule and attack, with `best_rule`
    for each attack under the rule for which that number is highest; other rows are there where they
    have the same seeds.
    """
    cells = Cells([], {}, {}, tuple(leading))
    for column in columns_in_order(asked):
        here = asked.filter(alpha=column[0], byzantine=column[1])
        seeds = common_seeds(here, leading)
        if not seeds:
            continue
        cells.columns.append(column)
        cells.seeds[column] = seeds
        whole = whole_seeds(here).filter(pl.col("seed").is_in(seeds)).group_by("row").len()
        done = whole.filter(pl.col("len") == len(seeds))["row"].to_list()
        means = (
            here.filter(pl.col("seed").is_in(seeds), pl.col("row").is_in(done))
            .group_by("row", "aggregator", "attack")
            .agg(pl.col("accuracy").mean(), pl.col("final_accuracy").mean())
        )
        how = {name: number for name, (_, number) in STATISTICS.items()}
        made = means.group_by("row").agg(**how)
        if best_rule:
            made = means.group_by("row", "aggregator").agg(**how).drop("aggregator")
            made = made.group_by("row").max()
        for numbers in made.iter_rows(named=True):
            cells.numbers[numbers.pop("row"), column] = numbers
    return cells


def wide_table(cells: Cells, name: str) -> str:
    """One number of each row in each column; the best of each is bold."""
    if not cells.columns:
        return "No column is done yet."
    best = {
        column: max(n[name] for (_, c), n in cells.numbers.items() if c == column)
        for column in cells.columns
    }
    heads = [f"{alpha:g}/{f}" for alpha, f in cells.columns]
    lines = [f"| strategy | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for row in cells.rows():
        told = []
        for column in cells.columns:
            number = cells.numbers.get((row, column), {}).get(name)
            told.append(_told(number, best[column]))
        lines.append(f"| {row} | {' | '.join(told)} |")
    seeds = [", ".join(map(str, cells.seeds[column])) for column in cells.columns]
    return "\n".join([*lines, f"| seeds | {' | '.join(seeds)} |"])


def _told(number: float | None, best: float) -> str:
    if number is None:
        return "-"
    return f"**{number:.1f}**" if number == best else f"{number:.1f}"
