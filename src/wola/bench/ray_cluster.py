"""The executor of a Ray cluster: every run is a remote task, and lost ones are done again."""

import logging
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from wola.bench.claims import Claim, Owner
from wola.bench.events import Begun, Event, Failed, Listener, Taken
from wola.bench.extras import needed
from wola.bench.store import Store
from wola.bench.waiting import PATIENCE, Waiting
from wola.bench.work import Task, dataset_of, finished, perform
from wola.training import Result, simulate

#: Runs that wait on the cluster, for each that can be computed there at once.
AHEAD = 2


@dataclass(frozen=True)
class RayExecutor:
    """Runs on a Ray cluster, each a task of `cpus` processors and `gpus` devices.

    `address` is that of a running cluster, "auto" for the one of this machine's surroundings, or
    "local" for one started here and stopped at the end. `gpus` may be a part: at 0.25 four runs
    share a device. A task whose process or node is lost is done again up to `retries` times.
    Results come back to the driver, which keeps them; with `shared` the nodes reach the store
    under the same path, and write there themselves.
    """

    address: str = "auto"
    cpus: float = 1.0
    gpus: float = 0.0
    retries: int = 3
    shared: bool = False

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
            _Cluster(ray, self, Waiting(tasks, store, listener)).work()
        finally:
            if ours:
                ray.shutdown()


def import_ray() -> Any:
    """Ray; if it is not installed, the error names the extra that brings it."""
    return needed("ray", extra="ray", what="--ray")


def remote_run(task: Task) -> Result | str:
    """A run on a node: what it gave, or the traceback if it failed."""
    try:
        return simulate(task.scenario, dataset=dataset_of(task.scenario))
    except Exception:
        return traceback.format_exc()


def remote_run_into_store(task: Task, store: Store) -> list[Event]:
    """A run on a node that reaches the store: the events that the driver has to hear of."""
    heard: list[Event] = []
    perform(task, store, tell=heard.append)
    return [event for event in heard if not isinstance(event, Begun)]


@dataclass(frozen=True)
class _Flight:
    task: Task
    claim: Claim | None
    start: float


class _Cluster:
    def __init__(self, ray: Any, executor: RayExecutor, waiting: Waiting) -> None:
        self.ray, self.executor, self.waiting = ray, executor, waiting
        self.store, self.listener = waiting.store, waiting.listener
        self.owner = Owner.here()
        self.flights: dict[Any, _Flight] = {}
        needs = {"num_cpus": executor.cpus, "num_gpus": executor.gpus}
        function = remote_run_into_store if executor.shared else remote_run
        self.remote = ray.remote(function).options(**needs, max_retries=executor.retries)
        if not self._room():
            raise ValueError(
                f"cpus = {executor.cpus:g}, gpus = {executor.gpus:g}; allowed: what a cluster with "
                f"{ray.cluster_resources()} can give to one run"
            )

    def work(self) -> None:
        """Until all runs are done or given up."""
        try:
            while self.waiting or self.flights:
                self._fill()
                if not self.flights:
                    sleep(PATIENCE)
                    continue
                landed, _ = self.ray.wait(list(self.flights), timeout=PATIENCE)
                for reference in landed:
                    self._land(reference)
        finally:
            for reference, flight in self.flights.items():
                self.ray.cancel(reference, force=True)
                _release(flight)

    def _room(self) -> int:
        resources = self.ray.cluster_resources()
        needs = {"CPU": self.executor.cpus, "GPU": self.executor.gpus}
        rooms = [int(resources.get(kind, 0) / need) for kind, need in needs.items() if need > 0]
        return min(rooms, default=1)

    def _fill(self) -> None:
        while len(self.flights) < max(1, AHEAD * self._room()):
            task = self.waiting.next()
            if task is None:
                return
            if self.executor.shared:
                reference = self.remote.remote(task, self.store)
                self.flights[reference] = _Flight(task, None, monotonic())
                continue
            claim = self.store.claim(task.key, self.owner)
            if claim is None:
                self.waiting.put_off(task)
                continue
            claim.__enter__()
            self.flights[self.remote.remote(task)] = _Flight(task, claim, monotonic())
            self.listener(Begun(task.key, task.scenario))

    def _land(self, reference: Any) -> None:
        flight = self.flights[reference]
        try:
            found = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            found = f"{error}\n"
        try:
            self._settle(flight, found)
        finally:
            del self.flights[reference]
            _release(flight)

    def _settle(self, flight: _Flight, found: Result | str | list[Event]) -> None:
        task = flight.task
        if isinstance(found, Result):
            self.store.write(task.key, found)
            self.listener(finished(task, found, monotonic() - flight.start))
        elif isinstance(found, str):
            self.store.fail(task.key, task.scenario, found)
            self.listener(Failed(task.key, task.scenario, found))
        else:
            for event in found:
                if isinstance(event, Taken):
                    self.waiting.put_off(task)
                else:
                    self.listener(event)


def _release(flight: _Flight) -> None:
    if flight.claim is not None:
        flight.claim.release()
