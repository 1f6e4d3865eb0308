"""The queue of runs to be done, some of which somebody else may be at work on."""

from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic

from wola.bench.events import Failed, Listener, Skipped
from wola.bench.store import Store
from wola.bench.task import Task

#: Seconds after which a run that somebody else has is looked at again.
PATIENCE = 1.0


class Queue:
    """Runs to be done, in order; runs that somebody else has are offered again after a while.

    A run that others have finished meanwhile, or failed at, is not offered; the listener is told.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        store: Store,
        listener: Listener,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.store, self.listener, self.clock = store, listener, clock
        self._ready, self._elsewhere = deque(tasks), deque[Task]()
        self._look = 0.0

    def __bool__(self) -> bool:
        return bool(self._ready or self._elsewhere)

    def __len__(self) -> int:
        return len(self._ready) + len(self._elsewhere)

    def next(self) -> Task | None:
        """The next run to try; None if there is none at the moment."""
        if not self._ready and self._elsewhere and self.clock() >= self._look:
            self._ready, self._elsewhere = self._elsewhere, deque()
            self._look = self.clock() + PATIENCE
        while self._ready:
            task = self._ready.popleft()
            if self.store.is_done(task.key):
                self.listener(Skipped(task.key))
            elif log := task.failed_meanwhile(self.store):
                self.listener(Failed(task.key, task.scenario, log))
            else:
                return task
        return None

    def put_off(self, task: Task) -> None:
        """Somebody else has this run: offers it again later, in case they give it up."""
        if not self._elsewhere:
            self._look = self.clock() + PATIENCE
        self._elsewhere.append(task)

    def again(self, task: Task) -> None:
        """Offers this run again, before all others."""
        self._ready.appendleft(task)
