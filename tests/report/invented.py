"""Runs of a report that nobody has made: a table built from numbers, without a store."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import polars as pl

from wola.report.runs import COLUMNS, Runs
from wola.report.settings import TABLE_AXES
from wola.training import STRATEGIES, Scenario

AXIS_VALUES: dict[str, Sequence[Any]] = {
    "dataset": ["digits"],
    "alpha": [3.0, 0.3],
    "byzantine": [2, 6],
    "strategy": ["-", "NNM", "WoLA", "WoLA+NNM"],
    "aggregator": ["median", "trimmed-mean"],
    "attack": ["alie", "mimic", "sf"],
    "seed": [1, 2, 3],
}

Place = Mapping[str, Any]
_BASE = Scenario.paper("digits").model_dump()


def places(**changes: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the values of the axes."""
    axes = {**AXIS_VALUES, **changes}
    return (
        dict(zip(TABLE_AXES, values, strict=True))
        for values in product(*(axes[a] for a in TABLE_AXES))
    )


def invented(
    accuracy: Callable[[Place], float | None],
    *,
    keep: Callable[[Place], bool] = lambda place: True,
    failed: Callable[[Place], bool] = lambda place: False,
    setting: str = "",
    **changes: Sequence[Any],
) -> Runs:
    """Runs with the accuracy that a function gives, and a hundredth of it as dissimilarity."""
    there, lost = [], []
    for number, place in enumerate(places(**changes)):
        key = f"{number:064x}"
        same = {**_BASE, **STRATEGIES[place["strategy"]], **place, "key": key, "run": key}
        same |= {"setting": setting, "rest": setting, "wola": same["loss"] == "wola"}
        if failed(place):
            lost.append(same)
        elif keep(place):
            value = accuracy(place)
            spread = None if value is None else value / 100
            there.append({**same, "accuracy": value, "dissimilarity_momenta": spread})
    return Runs(pl.DataFrame(there, schema=COLUMNS), pl.DataFrame(lost, schema=COLUMNS), (), ())


def scattered(place: Place) -> float:
    """A number between 10 and 90 that differs from run to run, always the same."""
    text = repr(sorted(place.items()))
    mixed = sum((i + 1) * ord(sign) * 7919 for i, sign in enumerate(text)) % 100_003
    return 10 + 80 * mixed / 100_003
