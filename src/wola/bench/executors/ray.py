"""The executor for a Ray cluster: every run is a remote task, and lost ones are done again."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from time import sleep
from typing import Any

from wola.bench.events import Begun, Busy, Evaluated, Event, Failed, Listener
from wola.bench.executors.node import Submission
from wola.bench.marker import StoreError
from wola.bench.queue import PATIENCE, Queue
from wola.bench.store import Store
from wola.bench.task import Task, perform
from wola.ground.extras import needed

#: Runs that wait on the cluster, for each that can be computed there at once.
AHEAD = 2

#: Seconds that runs have to release their claims when they are cancelled.
GRACE = 5.0


@dataclass(frozen=True)
class RayExecutor:
    """Does runs on a Ray cluster, each a task of `cpus` processors and `gpus` devices.

    The store must be on a file system that all nodes share: they claim runs and write them there,
    while this process only submits and listens. `address` is that of a running cluster, "auto" for
    the one that Ray finds, or "local" for one that is started here and stopped at the end. `gpus`
    may be a fraction: at 0.25 four runs share a device. A task whose process or node is lost is
    done again up to `retries` times.
    """

    address: str = "auto"
    cpus: float = 1.0
    gpus: float = 0.0
    retries: int = 3

    def __post_init__(self) -> None:
        import_ray()

    def run(self, tasks: Sequence[Task], store: Store, listener: Listener) -> None:
        """Does the runs; when it returns or raises, none of them is left on the cluster."""
        if not tasks:
            return
        ray = import_ray()
        ours = not ray.is_initialized()
        if ours:
            ray.init(
                address=self.address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                include_dashboard=False if self.address == "local" else None,
            )
        try:
            _Cluster(ray, self, Queue(tasks, store, listener)).work()
        finally:
            if ours:
                ray.shutdown()


def import_ray() -> Any:
    """Ray; if it is not installed, the error names the extra that brings it."""
    return needed("ray", extra="ray", what="--ray")


def remote_run(task: Task, submission: Submission) -> list[Event]:
    """A run on a node: the events that are worth telling once it is over."""
    heard: list[Event] = []
    perform(task, submission.arrive(), tell=heard.append)
    return [event for event in heard if not isinstance(event, Begun | Evaluated)]


class _Cluster:
    def __init__(self, ray: Any, executor: RayExecutor, queue: Queue) -> None:
        self.ray, self.executor, self.queue = ray, executor, queue
        self.submission = Submission.of(queue.store)
        self.submitted: dict[Any, Task] = {}
        needs = {"num_cpus": executor.cpus, "num_gpus": executor.gpus}
        self.remote = ray.remote(remote_run).options(**needs, max_retries=executor.retries)
        if not self._room():
            raise ValueError(
                f"cpus = {executor.cpus:g}, gpus = {executor.gpus:g}; allowed: what a cluster with "
                f"{ray.cluster_resources()} can give to one run"
            )

    def work(self) -> None:
        """Works until all runs are done or given up."""
        try:
            while self.queue or self.submitted:
                self._submit()
                if not self.submitted:
                    sleep(PATIENCE)
                    continue
                over, _ = self.ray.wait(list(self.submitted), timeout=PATIENCE)
                for reference in over:
                    self._hear(reference)
        finally:
            self._cancel()

    def _room(self) -> int:
        resources = self.ray.cluster_resources()
        needs = {"CPU": self.executor.cpus, "GPU": self.executor.gpus}
        rooms = [int(resources.get(kind, 0) / need) for kind, need in needs.items() if need > 0]
        return min(rooms, default=1)

    def _submit(self) -> None:
        while len(self.submitted) < max(1, AHEAD * self._room()):
            task = self.queue.next()
            if task is None:
                return
            self.submitted[self.remote.remote(task, self.submission)] = task

    def _hear(self, reference: Any) -> None:
        task = self.submitted.pop(reference)
        try:
            events: list[Event] = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            if isinstance(cause := getattr(error, "cause", None), OSError | StoreError):
                # The store cannot be used: no other run would fare better.
                raise cause from None
            self.queue.store.fail(task.key, task.scenario, f"{error}\n")
            events = [Failed(task.key, task.scenario, f"{error}\n")]
        for event in events:
            if isinstance(event, Busy):
                self.queue.put_off(task)
            else:
                self.queue.listener(event)

    def _cancel(self) -> None:
        left = list(self.submitted)
        if not left:
            return
        # First as by Ctrl-C, so that a run releases its claim.
        for reference in left:
            self.ray.cancel(reference, force=False)
        _, left = self.ray.wait(left, num_returns=len(left), timeout=GRACE)
        for reference in left:
            self.ray.cancel(reference, force=True)
