"""Times a grid: throughput with one and two processes, what store and scheduler cost, and ByzFL.

`python -m benchmarks.grid`, in the environment of `make bench-env`.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import wola.bench.task
from benchmarks.byzfl_grid import AGGREGATORS, ATTACKS
from benchmarks.grid_page import PROCESSES, page
from benchmarks.kernels import use_one_thread, write
from benchmarks.step import training_environment, with_command
from wola.bench.coincidence import coinciding
from wola.bench.events import Begun, Done, Event, ignore
from wola.bench.executors.local import LocalExecutor
from wola.bench.presets import preset
from wola.bench.run import run_grid, tasks_of
from wola.bench.store import Store
from wola.bench.task import perform
from wola.training import Scenario, simulate


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grid", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the report")
    parser.add_argument("--rounds", type=int, default=3, help="how often each grid is run")
    parser.add_argument("--steps", type=int, default=150, help="steps of a run")
    parser.add_argument("--byzfl-steps", type=int, default=40, help="the same beside ByzFL; 0: not")
    return with_command(parser, arguments)


def whole_grid(steps: int) -> list[Scenario]:
    """The runs of the preset `quick`, each once.

    >>> len(whole_grid(9))
    140
    """
    return list(coinciding(preset("quick").changed(steps=steps).scenarios()))


def grid_slice(steps: int) -> list[Scenario]:
    """The part of the preset `quick` that ByzFL can run as well: 24 runs.

    >>> len(grid_slice(9))
    24
    """
    part = preset("quick").cut(
        strategy=["-", "NNM"], aggregator=list(AGGREGATORS), attack=list(ATTACKS)
    )
    return part.changed(steps=steps).scenarios()


@dataclass
class Timeline:
    """When the events of a grid came: a listener."""

    times: list[tuple[float, Event]] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        """Takes down when the event came."""
        self.times.append((time.monotonic(), event))

    def working(self) -> float:
        """Seconds from the first run's beginning to the last one's end."""
        begun = [at for at, event in self.times if isinstance(event, Begun)]
        done = [at for at, event in self.times if isinstance(event, Done)]
        return max(done) - min(begun)

    def gaps(self) -> list[float]:
        """Seconds from each run's end to the next one's beginning, in one process."""
        made, end = [], None
        for at, event in self.times:
            if isinstance(event, Begun) and end is not None:
                made.append(at - end)
            end = at if isinstance(event, Done) else end
        return made


@dataclass(frozen=True)
class Timed:
    """A whole grid: `seconds` from the call to the end, `working` without starting processes.

    `cpu` counts the processor's seconds of this process and its children over all.
    """

    seconds: float
    working: float
    cpu: float
    gaps: tuple[float, ...] = ()


def plain_loop(scenarios: Sequence[Scenario]) -> Timed:
    """The runs one after another, kept nowhere; their data is read once, as in a grid."""
    start, cpu = time.monotonic(), cpu_seconds()
    for scenario in scenarios:
        simulate(scenario)
    seconds = time.monotonic() - start
    return Timed(seconds, seconds, cpu_seconds() - cpu)


def grid(scenarios: Sequence[Scenario], processes: int) -> Timed:
    """The runs as a grid into a new store."""
    with TemporaryDirectory() as folder:
        timeline, start, cpu = Timeline(), time.monotonic(), cpu_seconds()
        report = run_grid(
            scenarios,
            Store.open(Path(folder) / "store"),
            executor=LocalExecutor(processes),
            listener=timeline,
        )
        seconds = time.monotonic() - start
    if not report.whole:
        raise RuntimeError(f"runs failed: {report.failed}")
    return Timed(seconds, timeline.working(), cpu_seconds() - cpu, tuple(timeline.gaps()))


def cpu_seconds() -> float:
    """What this process and its ended children have used so far."""
    return math.fsum(os.times()[:4])


def store_overhead(scenarios: Sequence[Scenario]) -> list[float]:
    """Seconds that claiming, noting and keeping add to each run, in this process."""
    inside: list[float] = []

    def timed(*given: Any, **more: Any) -> Any:
        start = time.monotonic()
        try:
            return simulate(*given, **more)
        finally:
            inside.append(time.monotonic() - start)

    added = []
    with TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "store")
        vars(wola.bench.task)["simulate"] = timed
        try:
            for task in tasks_of(scenarios, store):
                start = time.monotonic()
                perform(task, store, tell=ignore)
                added.append(time.monotonic() - start - inside[-1])
        finally:
            vars(wola.bench.task)["simulate"] = simulate
    return added


def byzfl(base: Scenario, jobs: int) -> dict[str, Any]:
    """ByzFL's runner on the same grid, in a process of its own; what it says if it cannot."""
    with TemporaryDirectory() as folder:
        ended = subprocess.run(
            [sys.executable, "-m", "benchmarks.byzfl_grid", folder, base.to_json(), str(jobs)],
            capture_output=True,
            text=True,
            check=False,
        )
    if ended.returncode:
        return {"error": (ended.stderr.strip().splitlines() or ["no message"])[-1]}
    measured: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return measured


def best(found: Sequence[Timed]) -> dict[str, float]:
    """The smallest of each time, since whatever else a machine does can only add to it."""
    names = ("seconds", "working", "cpu")
    return {name: min(getattr(one, name) for one in found) for name in names}


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All numbers of the page."""
    scenarios = whole_grid(options.steps)
    for scenario in whole_grid(2):
        simulate(scenario)
    loops: list[Timed] = []
    grids: dict[int, list[Timed]] = {count: [] for count in PROCESSES}
    for _ in range(options.rounds):
        loops.append(plain_loop(scenarios))
        for count in PROCESSES:
            grids[count].append(grid(scenarios, count))
    made: dict[str, Any] = {
        "runs": len(scenarios),
        "loop": best(loops),
        "grids": {count: best(found) for count, found in grids.items()},
        "store": statistics.median(store_overhead(grid_slice(options.steps))),
        "scheduler": statistics.median([gap for one in grids[1] for gap in one.gaps]),
    }
    if options.byzfl_steps:
        short = grid_slice(options.byzfl_steps)
        made["slice"] = len(short)
        made["beside"] = {count: grid(short, count).seconds for count in PROCESSES}
        made["byzfl"] = {count: byzfl(short[0], count) for count in PROCESSES}
    return made


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    use_one_thread()
    made = measure(options)
    options.out.mkdir(parents=True, exist_ok=True)
    write(options.out / "grid.md", page(training_environment(options), made, options))
    print(f"written: {options.out / 'grid.md'}")


if __name__ == "__main__":
    main()
