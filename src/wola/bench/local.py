"""The executor of this machine: processes of one run at a time, replaced when they die."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory

from wola.bench.events import Begun, Evaluated, Event, Failed, Listener, Retried, Taken
from wola.bench.process import Ready, Stuck, WorkerProcess
from wola.bench.store import Store
from wola.bench.waiting import PATIENCE, Waiting
from wola.bench.work import Task

#: A run whose process dies is started this often in all.
TRIES = 2


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class LocalExecutor:
    """Runs on this machine: `processes` of one thread each, by default one per core.

    A process that dies, of whatever cause, costs its run alone: that one is tried once more, and
    then recorded as failed with the log. `gpus` names devices as ``CUDA_VISIBLE_DEVICES`` does;
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
            crew = _Crew(self, Waiting(tasks, store, listener), Path(logs))
            try:
                crew.work()
            finally:
                crew.stop()


class _Crew:
    def __init__(self, executor: LocalExecutor, waiting: Waiting, logs: Path) -> None:
        self.executor, self.waiting, self.logs = executor, waiting, logs
        self.store, self.listener = waiting.store, waiting.listener
        self.deaths: Counter[str] = Counter()
        self.members: dict[int, WorkerProcess] = {}
        for place in range(min(executor.processes or cores(), len(waiting))):
            self.members[place] = self._hire(place)

    def _hire(self, place: int) -> WorkerProcess:
        gpus = self.executor.gpus
        return WorkerProcess(
            self.store,
            self.logs / f"{place}.log",
            tensorboard=self.executor.tensorboard,
            environment={"CUDA_VISIBLE_DEVICES": gpus[place % len(gpus)]} if gpus else {},
        )

    def work(self) -> None:
        """Until all runs are done or given up."""
        while True:
            for member in self.members.values():
                if member.ready and (task := self.waiting.next()):
                    member.give(task)
            if not self.waiting and not any(member.task for member in self.members.values()):
                return
            connections = [member.connection for member in self.members.values()]
            heard = wait(connections, timeout=PATIENCE)
            for place, member in list(self.members.items()):
                if member.connection in heard:
                    self._hear(place, member)

    def _hear(self, place: int, member: WorkerProcess) -> None:
        message = member.hear()
        if message is None:
            self._bury(place, member)
        elif isinstance(message, Stuck):
            raise message.error
        elif isinstance(message, Ready):
            member.task, member.ready, member.started = None, True, True
        else:
            self._pass_on(member, message)

    def _pass_on(self, member: WorkerProcess, event: Event) -> None:
        if isinstance(event, Taken) and member.task is not None:
            self.waiting.put_off(member.task)
        else:
            self.listener(event)
        if not isinstance(event, Begun | Evaluated):
            # The run is over: should the process die before it is ready again, nothing is lost.
            member.task = None

    def _bury(self, place: int, member: WorkerProcess) -> None:
        death, task = member.death(), member.task
        if not member.started:
            raise RuntimeError(
                f"a worker process could not start; {death}. A script that runs a grid needs "
                "`if __name__ == '__main__':` around it"
            )
        del self.members[place]
        member.stop()
        if task is not None:
            self._after_death(task, death)
        if self.waiting:
            self.members[place] = self._hire(place)

    def _after_death(self, task: Task, death: str) -> None:
        self.deaths[task.key] += 1
        if self.deaths[task.key] < TRIES or self.store.is_done(task.key):
            self.listener(Retried(task.key, task.scenario, death))
            self.waiting.again(task)
        else:
            self.store.fail(task.key, task.scenario, death)
            self.listener(Failed(task.key, task.scenario, death))

    def stop(self) -> None:
        """Ends all processes."""
        for member in self.members.values():
            member.stop()
