"""Running a grid: what is there is skipped, what coincides is run once, the rest is done."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from errno import ENOENT
from os import PathLike
from typing import Any, Protocol

from wola.bench.cleanup import clear_half_written
from wola.bench.coincidence import representative
from wola.bench.events import Done, Event, Failed, GridReport, Listener, Said, Skipped, ignore
from wola.bench.executors.local import LocalExecutor
from wola.bench.grid import Grid
from wola.bench.index import content_text
from wola.bench.marker import StoreError
from wola.bench.notes import announce
from wola.bench.store import Store
from wola.bench.strategies import StrategyTaken
from wola.bench.task import Task
from wola.ground.files import WriteError
from wola.ground.names import counted
from wola.training import Scenario
from wola.training.scenario import record_key


class Executor(Protocol):
    """Something that does runs, on this machine or elsewhere."""

    def run(self, tasks: Sequence[Task], store: Store, listener: Listener) -> None:
        """Does the runs and tells of each: Done, Failed, or Skipped if somebody else did it."""


def tasks_of(scenarios: Iterable[Scenario], store: Store) -> list[Task]:
    """One task for all scenarios that coincide, in the order of the scenarios."""
    return _tasks(map(representative, scenarios), store)


def _tasks(runs: Iterable[Scenario], store: Store) -> list[Task]:
    found: dict[str, Task] = {}
    failed = set(store.failed())
    for run in runs:
        key = run.key()
        if key not in found:
            failure = store.failure(key) if key in failed else None
            found[key] = Task(key, run, failure["tries"] if failure else 0)
    return list(found.values())


def run_grid(
    grid: Grid | Sequence[Scenario],
    store: Store | str | PathLike[str],
    *,
    executor: Executor | None = None,
    listener: Listener = ignore,
    title: str = "grid",
    strategies: Mapping[str, Mapping[str, Any]] | None = None,
) -> GridReport:
    """Brings the runs of a grid, or of some scenarios, into the store, and reports how that went.

    The store may be named by its folder, and is made there if there is none. Without an executor
    the runs are done on this machine, one process per core; a script then needs the usual
    ``if __name__ == "__main__":`` around the call.

    Runs that are in the store are skipped; one that is there but damaged is set aside and run
    again. Other processes and machines may work on the same store: no run is done twice. It may be
    killed at any moment: called again, it goes on, and ends in the same bits. A store that vanishes
    meanwhile is a `WriteError`. `strategies` are
    those of a grid's own, by name, for reports to name.

    A scenario with a part that other processes cannot import is refused: put it into a module.
    """
    if isinstance(grid, Grid):
        strategies = {**grid.strategies, **(strategies or {})}
    scenarios = grid.scenarios() if isinstance(grid, Grid) else grid
    store = store if isinstance(store, Store) else Store.open(store)
    executor = LocalExecutor() if executor is None else executor
    for scenario in scenarios:
        check_importable(scenario)
    store.check_there()
    clear_half_written(store)
    runs = [representative(scenario) for scenario in scenarios]
    tasks = _tasks(runs, store)
    store.note_coincidences(zip(scenarios, runs, strict=True))
    try:
        store.note_strategies(strategies or {})
    except StrategyTaken as error:
        raise StoreError(str(error)) from None
    announce(store.path, title, [task.key for task in tasks])
    skipped = [task.key for task in tasks if _is_there(task, store, listener)]
    there = set(skipped)
    missing = [task for task in tasks if task.key not in there]
    for line in changed_content(missing, store):
        listener(Said(line))
    book = _Book(listener, skipped)
    executor.run(missing, store, book)
    _check_kept(store, book)
    return GridReport(
        done=tuple(book.done),
        skipped=tuple(book.skipped),
        failed=tuple(book.failed),
        shared=len(scenarios) - len(tasks),
    )


def check_importable(scenario: Scenario) -> None:
    """Refuse a scenario whose parts are in this process alone, with what to do about it."""
    for name in scenario.unimportable():
        text = getattr(scenario, name)
        if name == "dataset":
            advice = "dataset.save('mine.npz'), and dataset='npz(mine.npz)'"
        else:
            advice = "put it into a module of its own, such as mine.py, and import it from there"
        raise StoreError(
            f"{name} = {text!s} is defined in this process alone, so other processes cannot "
            f"import it and no key can name it; allowed: {advice}"
        )


def changed_content(tasks: Sequence[Task], store: Store) -> list[str]:
    """What has changed since like runs were made: the data or sources, and how many runs."""
    records = {task.key: task.scenario.record() for task in tasks}
    asked = {_like(r["fields"]): r["content"] for r in records.values() if r["content"]}
    if not asked:
        return []
    kept: dict[str, set[str]] = defaultdict(set)
    new: dict[str, set[str]] = defaultdict(set)
    for key in list(store.keys()):
        try:
            record = store.record(key)
            content = asked.get(_like(record["fields"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if content is not None and content_text(record["content"]) != content_text(content):
            for name in {*content, *record["content"]}:
                if content.get(name) != record["content"].get(name):
                    kept[name].add(key)
                    new[name].add(_like(record["fields"]))
    return [
        f"{name} is not what it was when {counted(len(kept[name]), 'run')} were made: they are "
        f"kept, and {counted(len(new[name]), 'new one')} are to be done"
        for name in sorted(kept)
    ]


def _like(fields: Mapping[str, Any]) -> str:
    return record_key(fields)


def _is_there(task: Task, store: Store, listener: Listener) -> bool:
    if not store.is_done(task.key):
        return False
    damage = store.damage(task.key)
    if damage is not None:
        where = store.set_aside(task.key)
        listener(Said(f"{damage}: set aside in {where}, to be run again"))
        return False
    listener(Skipped(task.key))
    return True


def _check_kept(store: Store, book: "_Book") -> None:
    """Raises a `WriteError` if what was done is not in the store any more."""
    store.check_there()
    lost = [key for key in book.done if not store.is_done(key)]
    if lost:
        raise WriteError(ENOENT, f"{counted(len(lost), 'run')} vanished from it", str(store.path))


class _Book:
    def __init__(self, listener: Listener, skipped: list[str]) -> None:
        self.listener = listener
        self.done: list[str] = []
        self.skipped = skipped
        self.failed: list[Failed] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, Done):
            self.done.append(event.key)
        elif isinstance(event, Skipped):
            self.skipped.append(event.key)
        elif isinstance(event, Failed):
            self.failed.append(event)
        self.listener(event)
