"""A small grid run at once: by processes into a store, or in this process into memory."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

import polars as pl
from rich.console import Console

from wola.bench.coincidence import coinciding
from wola.bench.events import Begun, Done, Listener, ignore
from wola.bench.executors.local import LocalExecutor
from wola.bench.grid import Grid
from wola.bench.index import SCHEMA, content_text, numbers_of
from wola.bench.progress import GridProgress
from wola.bench.run import run_grid, tasks_of
from wola.bench.store import Store
from wola.report.runs import Runs, assembled
from wola.training import Result, Scenario, simulate


def run_in_store(
    scenarios: Sequence[Scenario],
    grid: Grid,
    store: Store,
    processes: int | None,
    progress: bool,
) -> Runs:
    """The runs of a grid, done by processes and kept in a store."""
    with _shown(len(tasks_of(scenarios, store)), progress) as listener:
        run_grid(
            scenarios,
            store,
            executor=LocalExecutor(processes),
            listener=listener,
            title="comparison",
            strategies=grid.strategies,
        )
    asked = {scenario.key(): scenario for scenario in scenarios}
    done = store.frame(coinciding=True).filter(pl.col("key").is_in(list(asked)))
    lost = [
        {"key": key, "run": store.key(scenario), **_fields(scenario)}
        for key, scenario in asked.items()
        if store.state(store.key(scenario)) == "failed"
    ]
    failed = pl.DataFrame(lost, schema=SCHEMA)
    return assembled(done, failed, strategies=grid.strategies, stores=[store])


def run_in_memory(scenarios: Sequence[Scenario], grid: Grid, progress: bool) -> Runs:
    """The runs of a grid, done in this process and kept in memory."""
    rows, wanted = [], coinciding(scenarios)
    with _shown(len(wanted), progress) as listener:
        for run, answered in wanted.items():
            key, start = run.key(), monotonic()
            listener(Begun(key, run))
            result = simulate(run)
            rows += [_row(scenario, key, result) for scenario in answered]
            listener(Done(key, run, result.accuracy, result.ending, monotonic() - start))
    done = pl.DataFrame(rows, schema=SCHEMA)
    return assembled(done, pl.DataFrame(schema=SCHEMA), strategies=grid.strategies)


@contextmanager
def _shown(total: int, progress: bool) -> Iterator[Listener]:
    """A listener that shows a grid under way on standard error, or nothing."""
    if not progress:
        yield ignore
        return
    with GridProgress(Console(stderr=True), total, title="comparison") as shown:
        yield shown


def _row(scenario: Scenario, run: str, result: Result) -> dict[str, Any]:
    summary = result.summary()
    return {
        **numbers_of(summary),
        "environment": content_text(summary["environment"]),
        **_fields(scenario),
        "key": scenario.key(),
        "run": run,
        "steps_taken": summary["steps"],
        "seconds": sum(result.seconds.values()),
    }


def _fields(scenario: Scenario) -> dict[str, Any]:
    texts = {name: str(v) if isinstance(v, str) else v for name, v in scenario}
    return {**texts, "content": content_text(scenario.content())}
