"""Watching a grid that other processes run, through the store alone."""

from collections.abc import Callable, Iterator, Sequence
from math import nan
from time import monotonic, sleep

from wola.bench.events import Done, Event, Failed, Said
from wola.bench.failures import failed_scenario
from wola.bench.notes import notes
from wola.bench.progress import GridProgress
from wola.bench.store import Store
from wola.ground.sealed import Damaged

#: Seconds between two looks; seconds without anybody at work after which watching ends.
PAUSE, IDLE = 1.0, 15.0


def watch(
    store: Store,
    keys: Sequence[str],
    progress: GridProgress,
    *,
    idle: float = IDLE,
    clock: Callable[[], float] = monotonic,
) -> bool:
    """Shows how the runs come into the store until all are there, or nobody works on them.

    Returns whether all are there.
    """
    onlooker = Onlooker(store, keys)
    progress.pace.there += len(keys) - len(onlooker.left)
    last = clock()
    while True:
        for event in onlooker.look():
            progress(event)
            last = clock()
        if not onlooker.left:
            return True
        running = store.running()
        progress.current = {n.key: n for n in notes(store.path) if n.key in running}
        if any(key in running for key in onlooker.left):
            last = clock()
        elif clock() - last >= idle:
            return False
        sleep(PAUSE)


class Onlooker:
    """Sees what happens to some runs of a store: `left` are those that are not in it yet."""

    def __init__(self, store: Store, keys: Sequence[str]) -> None:
        self.store = store
        self.left = [key for key in keys if not store.is_done(key)]
        self._tries = self._failures()

    def look(self) -> Iterator[Event]:
        """Runs that were finished, or failed, since the last look."""
        left = []
        for key in self.left:
            if self.store.is_done(key):
                yield _told(self.store, key)
            else:
                left.append(key)
        self.left = left
        before, self._tries = self._tries, self._failures()
        for key, tries in self._tries.items():
            record = self.store.failure(key)
            if record is not None and tries > before.get(key, 0) and key in self.left:
                yield Failed(key, failed_scenario(record), record["log"])

    def _failures(self) -> dict[str, int]:
        records = {key: self.store.failure(key) for key in self.store.failed()}
        return {key: record["tries"] for key, record in records.items() if record is not None}


def _told(store: Store, key: str) -> Event:
    try:
        return done_in(store, key)
    except (Damaged, OSError) as error:
        return Said(f"{error}; the next grid runs it again")


def done_in(store: Store, key: str) -> Done:
    """The event of a run that is in the store; a `Damaged` if it is not as it was written."""
    summary, scenario = store.summary(key), store.scenario(key)
    accuracy = summary["accuracy"]
    return Done(
        key,
        scenario,
        nan if accuracy is None else accuracy,
        summary["ending"],
        sum(summary["seconds"].values()),
    )
