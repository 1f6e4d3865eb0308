"""The executor for this machine: processes that do one run at a time, replaced if they die."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory

from wola.bench.events import Begun, Busy, Evaluated, Event, Failed, Listener, Retried
from wola.bench.executors.process import Ready, Stuck, WorkerProcess
from wola.bench.queue import PATIENCE, Queue
from wola.bench.store import Store
from wola.bench.task import Task

#: A run whose process dies is started this often in all.
TRIES = 2


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class LocalExecutor:
    """Does runs on this machine: `processes` of one thread each, by default one per core.

    A process that dies, for whatever reason, costs only its run: that one is tried once more, then
    recorded as failed with the log. `gpus` names devices as ``CUDA_VISIBLE_DEVICES`` does;
    the processes share them in turn, so twice as many processes as devices means two runs on
    each. `tensorboard` is a folder for curves.
    """

    processes: int | None = None
    gpus: tuple[str, ...] = ()
    tensorboard: Path | None = None

    def __post_init__(self) -> None:
        if self.processes is not None and self.processes < 1:
            raise ValueError(f"processes = {self.processes}; allowed: at least 1")

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


class _Workers:
    def __init__(self, executor: LocalExecutor, queue: Queue, logs: Path) -> None:
        self.executor, self.queue, self.logs = executor, queue, logs
        self.store, self.listener = queue.store, queue.listener
        self.deaths: Counter[str] = Counter()
        self.running: dict[int, WorkerProcess] = {}
        for place in range(min(executor.processes or cores(), len(queue))):
            self.running[place] = self._started(place)

    def _started(self, place: int) -> WorkerProcess:
        gpus = self.executor.gpus
        return WorkerProcess(
            self.store,
            self.logs / f"{place}.log",
            tensorboard=self.executor.tensorboard,
            environment={"CUDA_VISIBLE_DEVICES": gpus[place % len(gpus)]} if gpus else {},
        )

    def work(self) -> None:
        """Works until all runs are done or given up."""
        while True:
            for worker in self.running.values():
                if worker.ready and (task := self.queue.next()):
                    worker.give(task)
            if not self.queue and not any(worker.task for worker in self.running.values()):
                return
            connections = [worker.connection for worker in self.running.values()]
            heard = wait(connections, timeout=PATIENCE)
            for place, worker in list(self.running.items()):
                if worker.connection in heard:
                    self._hear(place, worker)

    def _hear(self, place: int, worker: WorkerProcess) -> None:
        message = worker.hear()
        if message is None:
            self._replace(place, worker)
        elif isinstance(message, Stuck):
            raise message.error
        elif isinstance(message, Ready):
            worker.task, worker.ready, worker.started = None, True, True
        else:
            self._pass_on(worker, message)

    def _pass_on(self, worker: WorkerProcess, event: Event) -> None:
        if isinstance(event, Busy) and worker.task is not None:
            self.queue.put_off(worker.task)
        else:
            self.listener(event)
        if not isinstance(event, Begun | Evaluated):
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
            self.store.fail(task.key, task.scenario, death)
            self.listener(Failed(task.key, task.scenario, death))

    def stop(self) -> None:
        """Ends all processes."""
        for worker in self.running.values():
            worker.stop()
