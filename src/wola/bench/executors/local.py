"""The executor for this machine: processes that do one run at a time, replaced if they die."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from wola.bench.events import Busy, Done, Event, Failed, Listener, Retried, Skipped
from wola.bench.executors.process import Beat, Ready, Stuck, WorkerProcess
from wola.bench.queue import PATIENCE, Queue
from wola.bench.store import Store
from wola.bench.task import Task
from wola.bench.trackers import NO_TRACKERS, Trackers
from wola.ground.checks import check_number

#: A run whose process dies is started this often in all.
TRIES = 2

#: Seconds that a process may take to start, on a busy machine.
STARTED_AFTER = 300.0


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class LocalExecutor:
    """Does runs on this machine: `processes` of one thread each, by default one per core.

    A process that dies, for whatever reason, costs only its run: that one is tried once more, then
    recorded as failed with the log. One that has not been heard of for as long as makes a claim
    stale, or whose run takes more than `run_minutes`, is taken down, and its run is recorded as
    failed with the reason. `gpus` names devices as ``CUDA_VISIBLE_DEVICES`` does;
    the processes share them in turn, so twice as many processes as devices means two runs on
    each. `trackers` follow the runs.
    """

    processes: int | None = None
    gpus: tuple[str, ...] = ()
    trackers: Trackers = NO_TRACKERS
    run_minutes: float | None = None

    def __post_init__(self) -> None:
        if self.processes is not None and self.processes < 1:
            raise ValueError(f"processes = {self.processes}; allowed: at least 1")
        if self.run_minutes is not None:
            check_number("run_minutes", self.run_minutes, above=0)

    def run(self, tasks: Sequence[Task], store: Store, listener: Listener) -> None:
        """Does the runs; when it returns or raises, no process is left."""
        if not tasks:
            return
        with TemporaryDirectory(prefix="wola-bench-") as logs:
            workers = _Workers(self, Queue(tasks, store, listener), Path(logs))
            try:
                workers.work()
            finally:
                workers.stop()


class AwakeClock:
    """Seconds that this process was awake, read often: a longer gap is one in which it was stopped.

    So a Ctrl-Z, or a laptop that sleeps, does not make the others seem silent.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._last, self.now = clock, clock(), 0.0

    def tick(self) -> float:
        """Moves on by the time since the last call, by two waits at most; the time now.

        >>> clock = AwakeClock(iter([0.0, 1.0, 500.0]).__next__)
        >>> clock.tick(), clock.tick()
        (1.0, 3.0)
        """
        last, self._last = self._last, self._clock()
        self.now += min(self._last - last, 2 * PATIENCE)
        return self.now


class _Workers:
    def __init__(self, executor: LocalExecutor, queue: Queue, logs: Path) -> None:
        self.executor, self.queue, self.logs = executor, queue, logs
        self.store, self.listener = queue.store, queue.listener
        self.clock = AwakeClock()
        self.deaths: Counter[str] = Counter()
        self.running: dict[int, WorkerProcess] = {}
        for place in range(min(executor.processes or cores(), len(queue))):
            self.running[place] = self._started(place)

    def _started(self, place: int) -> WorkerProcess:
        gpus = self.executor.gpus
        return WorkerProcess(
            self.store,
            self.logs / f"{place}.log",
            trackers=self.executor.trackers,
            environment={"CUDA_VISIBLE_DEVICES": gpus[place % len(gpus)]} if gpus else {},
            now=self.clock.now,
        )

    def work(self) -> None:
        """Works until all runs are done or given up."""
        while True:
            for worker in self.running.values():
                if worker.ready and (task := self.queue.next()):
                    worker.give(task, self.clock.now)
            if not self.queue and not any(worker.task for worker in self.running.values()):
                return
            connections = [worker.connection for worker in self.running.values()]
            heard = wait(connections, timeout=PATIENCE)
            self.clock.tick()
            for place, worker in list(self.running.items()):
                if worker.connection in heard:
                    worker.heard = self.clock.now
                    self._hear(place, worker)
                if self.running.get(place) is worker and (reason := self._overdue(worker)):
                    self._take_down(place, worker, reason)

    def _overdue(self, worker: WorkerProcess) -> str | None:
        """Why a process is to be waited for no longer; None if it is not."""
        limit, silent = self.executor.run_minutes, self.clock.now - worker.heard
        spent = 0.0 if worker.task is None else self.clock.now - worker.given
        if limit is not None and spent > 60 * limit:
            return f"the run took more than {limit:g} minutes, its time limit, and was stopped"
        allowed = self.store.stale_after if worker.started else STARTED_AFTER
        if silent > allowed and not worker.connection.poll():
            return f"the process was silent for more than {allowed:g} seconds, and was stopped"
        return None

    def _take_down(self, place: int, worker: WorkerProcess, reason: str) -> None:
        task, started, log = worker.task, worker.started, worker.log()
        del self.running[place]
        worker.stop()
        if not started:
            raise RuntimeError(f"a worker process could not start; {log}{reason}")
        if task is not None and not self.store.is_done(task.key):
            self._give_up(task, f"{log}{reason}")
        elif task is not None:
            self.listener(Skipped(task.key))
        if self.queue:
            self.running[place] = self._started(place)

    def _hear(self, place: int, worker: WorkerProcess) -> None:
        message = worker.hear()
        if message is None:
            self._replace(place, worker)
        elif isinstance(message, Stuck):
            raise message.error
        elif isinstance(message, Ready):
            worker.task, worker.ready, worker.started = None, True, True
        elif not isinstance(message, Beat):
            self._pass_on(worker, message)

    def _pass_on(self, worker: WorkerProcess, event: Event) -> None:
        if isinstance(event, Busy) and worker.task is not None:
            self.queue.put_off(worker.task)
        else:
            self.listener(event)
        if isinstance(event, Busy | Done | Failed | Skipped):
            # The run is over: should the process die before it is ready again, nothing is lost.
            worker.task = None

    def _replace(self, place: int, worker: WorkerProcess) -> None:
        death, task = worker.death(), worker.task
        if not worker.started:
            raise RuntimeError(
                f"a worker process could not start; {death}. A script that runs a grid needs "
                "`if __name__ == '__main__':` around it"
            )
        del self.running[place]
        worker.stop()
        if task is not None:
            self._after_death(task, death)
        if self.queue:
            self.running[place] = self._started(place)

    def _after_death(self, task: Task, death: str) -> None:
        self.deaths[task.key] += 1
        if self.deaths[task.key] < TRIES or self.store.is_done(task.key):
            self.listener(Retried(task.key, task.scenario, death))
            self.queue.again(task)
        else:
            self._give_up(task, death)

    def _give_up(self, task: Task, log: str) -> None:
        self.store.fail(task.key, task.scenario, log)
        self.listener(Failed(task.key, task.scenario, log))

    def stop(self) -> None:
        """Ends all processes."""
        for worker in self.running.values():
            worker.stop()
