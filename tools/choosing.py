"""docs/choosing.md: which rule to choose, with every number taken from what was measured.

python -m tools.choosing

The words are in `choosing_text.md`. There `[[table NAME]]` stands for a table, and `[[digits ...]]`
and `[[extended ...]]` for a number: place, strategy or rule, and `mean` or `worst`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

import polars as pl

from tools.methods import NEEDS, REMEMBERS, accepted
from wola.ground import write_whole
from wola.training import PARTS

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
PAGE = HERE.parent / "docs" / "choosing.md"

PLACE = ["alpha", "byzantine"]
#: Attacks that search for what hurts the server's own rule; rules that ask for losses lack them.
SEARCHES = ("optimal-alie", "tilt", "worst-of")
#: The rules of the paper, and what they are called here.
SHORT = {"geometric-median(iterations=10, nu=0.1)": "geometric median (paper)"}
SHORT |= {"multi-krum(power=1)": "Multi-Krum (paper)", "trimmed-mean": "trimmed mean"}
#: What a cost is told for: one size of update, about that of a small convolutional network.
COORDINATES = 431_080

Row = Iterable[str | float]


def page() -> str:
    """The whole page."""
    text = (HERE / "choosing_text.md").read_text(encoding="utf-8")
    return re.sub(r"\[\[(\w+) ([^]]+)\]\]", lambda found: _filled(found[1], found[2]), text)


def _filled(kind: str, words: str) -> str:
    if kind == "table":
        return TABLES[words]()
    alpha, f, *of, which = words.split()
    return f"{NUMBERS[kind](float(alpha), int(f), ' '.join(of), which):.1f}"


def digits() -> pl.DataFrame:
    """Means over seeds for every place, strategy, rule and attack of the paper's grid on digits."""
    runs = pl.read_parquet(RESULTS / "digits" / "runs.parquet")
    inside = (pl.col("attack") != "none") & (pl.col("batch") == 128) & (pl.col("beta") == 0.9)
    return _seeds(runs.filter(inside & pl.col("byzantine").is_in([2, 4, 6, 8])))


def extended() -> pl.DataFrame:
    """The same for every rule with and without WoLA, as far as it was run."""
    return _seeds(pl.read_parquet(RESULTS / "extended" / "runs.parquet"))


def _seeds(runs: pl.DataFrame) -> pl.DataFrame:
    keys = [*PLACE, "strategy", "aggregator", "attack"]
    return runs.group_by(keys).agg(pl.col("accuracy").mean(), pl.col("seed").n_unique()).sort(keys)


def by_strategy() -> pl.DataFrame:
    """For every place and strategy on digits: `mean` over rules and attacks, and `worst`.

    `worst` is that of the worst attack of each rule, averaged over rules, as in the paper.
    """
    keys = [*PLACE, "strategy", "aggregator"]
    rules = digits().group_by(keys).agg(mean=pl.mean("accuracy"), worst=pl.min("accuracy"))
    return rules.group_by(keys[:3]).agg(pl.mean("mean"), pl.mean("worst")).sort(keys[:3])


def by_rule(alpha: float, f: int) -> pl.DataFrame:
    """For every rule and strategy at one place of the extended grid: `mean`, `worst`, `searched`.

    The first two are over all attacks but the searches, and rows that lack one are left out; the
    last is the worst of all attacks, where all searches were run too.
    """
    found = extended().filter(alpha=alpha, byzantine=f)
    plain = plain_attacks(alpha, f)
    known, searches = pl.col("attack").is_in(plain), pl.col("attack").is_in(SEARCHES)
    rows = found.group_by("aggregator", "strategy").agg(
        mean=pl.col("accuracy").filter(known).mean(),
        worst=pl.col("accuracy").filter(known).min(),
        searched=pl.when(searches.sum() == len(SEARCHES)).then(pl.min("accuracy")),
        seeds=pl.min("seed"),
        known=known.sum(),
    )
    whole = rows.filter(pl.col("known") == len(plain)).drop("known")
    return whole.sort("worst", "aggregator", "strategy", descending=[True, False, False])


def plain_attacks(alpha: float, f: int) -> list[str]:
    """The attacks of the extended grid at one place, without the searches."""
    found = extended().filter(alpha=alpha, byzantine=f)["attack"].unique()
    return sorted(set(found) - set(SEARCHES))


def _of_digits(alpha: float, f: int, strategy: str, which: str) -> float:
    return float(by_strategy().filter(alpha=alpha, byzantine=f, strategy=strategy)[which].item())


def _of_extended(alpha: float, f: int, part: str, which: str) -> float:
    rule, _, strategy = part.partition(" ")
    found = by_rule(alpha, f).filter(aggregator=rule, strategy=strategy or "-")
    return float(found[which].item())


NUMBERS: dict[str, Callable[[float, int, str, str], float]] = {
    "digits": _of_digits,
    "extended": _of_extended,
}


def _places() -> str:
    """For each place on digits: the best strategy with WoLA and without, in mean and worst case."""
    aligned = pl.col("strategy").str.starts_with("WoLA")
    rows = []
    for (alpha, f), found in by_strategy().group_by(PLACE, maintain_order=True):
        cells = [f"{alpha:g}", f"{f}"]
        for which in ("mean", "worst"):
            for group in (found.filter(~aligned), found.filter(aligned)):
                best = group.sort(which, descending=True).row(0, named=True)
                cells.append(f"{best['strategy']} {best[which]:.1f}")
        rows.append(cells)
    head = ["alpha", "f", "best without WoLA", "best with WoLA"]
    return _table([*head, "without, worst attack", "with, worst attack"], rows)


def _combinations() -> str:
    """For each place on digits: the strategy and rule whose worst attack is the least bad."""
    keys = [*PLACE, "strategy", "aggregator"]
    worst = digits().sort("accuracy").group_by(keys, maintain_order=True).first()
    best = worst.sort("accuracy", descending=True).group_by(PLACE, maintain_order=True).first()
    rows = [
        (f"{alpha:g}", str(f), f"{strategy}, {SHORT.get(rule, rule)}", attack, f"{accuracy:.1f}")
        for alpha, f, strategy, rule, attack, accuracy, _ in best.sort(PLACE)
        .select(*keys, "attack", "accuracy", "seed")
        .iter_rows()
    ]
    return _table(["alpha", "f", "strategy and rule", "its worst attack", "accuracy there"], rows)


def _rules() -> str:
    """A table for each place of the extended grid that has rows with all attacks."""
    parts = []
    places = extended().select(PLACE).unique().sort(PLACE)
    for alpha, f in places.iter_rows():
        found = by_rule(alpha, f)
        if found.is_empty():
            continue
        rows = [
            (
                f"`{rule}`" if strategy == "-" else f"`{rule}`, {strategy}",
                *(f"{value:.1f}" for value in (mean, worst)),
                "-" if searched is None else f"{searched:.1f}",
            )
            for rule, strategy, mean, worst, searched in found.drop("seeds").iter_rows()
        ]
        seeds = " to ".join(map(str, sorted({found["seeds"].min(), found["seeds"].max()})))
        attacks = ", ".join(f"`{attack}`" for attack in plain_attacks(alpha, f))
        parts.append(f"**alpha {alpha:g}, f = {f}**; seeds: {seeds}; attacks: {attacks}\n")
        parts.append(_table(["rule", "mean", "worst", "worst, searches included"], rows) + "\n")
    return "\n".join(parts).rstrip()


def _demands() -> str:
    """What each rule accepts, needs and keeps."""
    rows = []
    for name, part in PARTS.kinds["aggregator"].names.items():
        rule = part()
        needs = "; ".join(NEEDS[need] for need in sorted(part.needs)) or "nothing"
        kept = REMEMBERS[rule.remembers].removeprefix("a memory of ") or "nothing"
        rows.append((f"`{name}`", accepted(rule).rstrip("."), needs, kept))
    return _table(["rule", "accepts", "needs beside the updates", "remembers"], rows)


def _costs() -> str:
    """Milliseconds on one thread, for three numbers of workers."""
    cells = json.loads((RESULTS / "kernels.json").read_text(encoding="utf-8"))["cells"]
    times: dict[str, dict[int, float]] = {}
    for cell in cells:
        if cell["d"] == COORDINATES and cell["work"] not in {"alie", "optimal-alie", "sign-flip"}:
            taken = 1000 * median(cell["seconds"]["wola"])
            times.setdefault(cell["work"], {})[cell["n"]] = taken
    rows = [
        (f"`{work}`", *(f"{taken[n]:.1f}" if n in taken else "-" for n in (17, 50, 100)))
        for work, taken in times.items()
    ]
    return _table(["rule", "n = 17, f = 6", "n = 50, f = 12", "n = 100, f = 25"], rows)


def _other_costs() -> str:
    """The first table of results/systems.md, without its goals."""
    text = (RESULTS / "systems.md").read_text(encoding="utf-8").split("\n## ")[1]
    found = re.findall(r"^\| ([^|]+) \| ([\d.]+) \([^)]*\) \| ([\d.]+) \|", text, re.M)
    return _table(["rule", "ms", "times Multi-Krum"], found)


TABLES: dict[str, Callable[[], str]] = {
    "places": _places,
    "combinations": _combinations,
    "rules": _rules,
    "demands": _demands,
    "costs": _costs,
    "other costs": _other_costs,
}


def _table(head: list[str], rows: Iterable[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


if __name__ == "__main__":
    write_whole(PAGE, page().encode())
