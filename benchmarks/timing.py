"""Interleaved measurement of process CPU time."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Call = Callable[[], Any]


@dataclass(frozen=True)
class Spread:
    """The median of some seconds and the quartiles around it."""

    low: float
    median: float
    high: float


def spread(seconds: list[float]) -> Spread:
    """Median and quartiles; of a single measurement, that one three times."""
    if len(seconds) == 1:
        return Spread(seconds[0], seconds[0], seconds[0])
    low, median, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return Spread(low, median, high)


def timed(call: Call, *, clock: Callable[[], float] = time.process_time) -> tuple[float, Any]:
    """CPU seconds of one call, and what it returned."""
    start = clock()
    answer = call()
    return clock() - start, answer


def affordable_rounds(first: float, *, budget: float, most: int) -> int:
    """How many calls of `first` seconds each fit into the budget: 0 to `most`."""
    return most if first <= 0 else min(most, int(budget / first))


def is_due(turn: int, turns: int, rounds: int) -> bool:
    """Whether one that is called `rounds` times in all, evenly spread, is called this turn."""
    return (turn + 1) * rounds // turns > turn * rounds // turns


def interleaved(
    calls: Mapping[str, Call],
    first: Mapping[str, float],
    *,
    budget: float,
    most: int,
    before: Call = lambda: None,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, list[float]]:
    """CPU seconds of every call, one after another in rounds, so that drift meets all alike.

    `first` holds what a first call of each took. One that is slow for the budget joins fewer
    rounds, evenly spread; where not a single one is affordable the first call is the measurement.
    `before` runs before each call, outside the measurement.
    """
    rounds = {name: affordable_rounds(first[name], budget=budget, most=most) for name in calls}
    turns = max(rounds.values())
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(turns):
        for name, call in calls.items():
            if is_due(turn, turns, rounds[name]):
                before()
                seconds[name].append(timed(call, clock=clock)[0])
    return {name: values or [first[name]] for name, values in seconds.items()}
