"""Running a grid: what is there is skipped, what coincides is run once, the rest is done."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from wola.bench.events import Done, Event, Failed, GridReport, Listener, Said, Skipped, ignore
from wola.bench.notes import announce
from wola.bench.same import representative
from wola.bench.store import Store
from wola.bench.task import Task
from wola.training import Scenario


class Executor(Protocol):
    """Something that does runs, on this machine or elsewhere."""

    def run(self, tasks: Sequence[Task], store: Store, listener: Listener) -> None:
        """Does the runs and tells of each: Done, Failed, or Skipped if somebody else did it."""


def tasks_of(scenarios: Iterable[Scenario], store: Store) -> list[Task]:
    """One task for all scenarios that coincide, in the order of the scenarios."""
    found: dict[str, Task] = {}
    failed = set(store.failed())
    for scenario in scenarios:
        stands_for = representative(scenario)
        key = store.key(stands_for)
        if key not in found:
            record = store.failure(key) if key in failed else None
            found[key] = Task(key, stands_for, record["tries"] if record else 0)
    return list(found.values())


def run_grid(
    scenarios: Sequence[Scenario],
    store: Store,
    *,
    executor: Executor,
    listener: Listener = ignore,
    title: str = "grid",
) -> GridReport:
    """Brings the runs of all scenarios into the store, and reports how that went.

    Runs that are in the store are skipped; one that is there but damaged is set aside and run
    again. Other processes and machines may work on the same store: no run is done twice. It may be
    killed at any moment: called again, it goes on, and ends in the same bits.
    """
    tasks = tasks_of(scenarios, store)
    store.record(scenarios)
    announce(store.path, title, [task.key for task in tasks])
    skipped = [task.key for task in tasks if _is_there(task, store, listener)]
    there = set(skipped)
    book = _Book(listener, skipped)
    executor.run([task for task in tasks if task.key not in there], store, book)
    return GridReport(
        done=tuple(book.done),
        skipped=tuple(book.skipped),
        failed=tuple(book.failed),
        shared=len(scenarios) - len(tasks),
    )


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
