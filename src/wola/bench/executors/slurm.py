"""The executor for a SLURM cluster: array jobs through submitit, each of which does many runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import sleep
from typing import Any

from wola.bench.events import Done, Event, Failed, Listener
from wola.bench.executors.local import LocalExecutor
from wola.bench.executors.node import Submission
from wola.bench.queue import PATIENCE
from wola.bench.store import Store
from wola.bench.task import Task
from wola.bench.watch import done_in
from wola.ground.extras import needed
from wola.ground.sealed import Damaged


@dataclass(frozen=True)
class SlurmExecutor:
    """Does runs in one array of `jobs` jobs, each with `processes` processors and runs at once.

    The store must be on a file system that all nodes share. Every job goes through the whole list
    of runs from its own starting point and takes what nobody has, so none idles while there is
    work, and a job that is lost leaves its runs to the others. `minutes` is a job's time limit;
    the same command does what is left then. `run_minutes` is that of one run. `parameters` are
    further ones of submitit's, such as ``{"slurm_partition": "gpu", "gpus_per_node": 1}``.
    `cluster` is "slurm"; "local" starts the jobs as processes of this machine.
    """

    jobs: int = 8
    processes: int = 1
    minutes: int = 240
    parameters: dict[str, Any] = field(default_factory=dict)
    cluster: str = "slurm"
    run_minutes: float | None = None

    def __post_init__(self) -> None:
        for name in ("jobs", "processes", "minutes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}; allowed: at least 1")
        import_submitit()

    def run(self, tasks: Sequence[Task], store: Store, listener: Listener) -> None:
        """Submits the jobs and follows the store until all runs are there or all jobs have ended.

        A Ctrl-C cancels the jobs.
        """
        if not tasks:
            return
        jobs = self._submit(tasks, Submission.of(store))
        try:
            left = _follow(tasks, store, jobs, listener)
        except BaseException:
            for job in jobs:
                job.cancel(check=False)
            raise
        for task in left:
            log = task.failed_meanwhile(store) or _log_of(jobs)
            listener(Failed(task.key, task.scenario, log))

    def _submit(self, tasks: Sequence[Task], submission: Submission) -> list[Any]:
        submitit = import_submitit()
        executor = submitit.AutoExecutor(
            folder=submission.store.path / "jobs", cluster=self.cluster
        )
        executor.update_parameters(
            name="wola",
            timeout_min=self.minutes,
            tasks_per_node=1,
            cpus_per_task=self.processes,
            **self.parameters,
        )
        count = min(self.jobs, len(tasks))
        starts = [index * len(tasks) // count for index in range(count)]
        orders = [[*tasks[start:], *tasks[:start]] for start in starts]
        local = LocalExecutor(self.processes, run_minutes=self.run_minutes)
        jobs: list[Any] = executor.map_array(do_runs, orders, [submission] * count, [local] * count)
        return jobs


def import_submitit() -> Any:
    """submitit; if it is not installed, the error names the extra that brings it."""
    return needed("submitit", extra="slurm", what="--slurm")


def do_runs(tasks: list[Task], submission: Submission, executor: LocalExecutor) -> int:
    """One job: does the runs that nobody else has, in this order; returns how many it did."""
    store, done = submission.arrive(), []

    def listen(event: Event) -> None:
        if isinstance(event, Done):
            done.append(event.key)

    executor.run(tasks, store, listen)
    return len(done)


def _follow(
    tasks: Sequence[Task], store: Store, jobs: Sequence[Any], listener: Listener
) -> list[Task]:
    left = list(tasks)
    while True:
        # Asked before the store is read, so that what a job did last is not missed.
        over = all(job.done() for job in jobs)
        there = [task for task in left if store.is_done(task.key)]
        for task in there:
            try:
                listener(done_in(store, task.key))
            except Damaged as error:
                listener(Failed(task.key, task.scenario, str(error)))
        left = [task for task in left if task not in there]
        if over or not left:
            return left
        sleep(PATIENCE)


def _log_of(jobs: Sequence[Any]) -> str:
    ends = [f"job {job.job_id}: {job.stderr() or job.state}" for job in jobs]
    return "all jobs have ended, and the run is not done\n" + "\n".join(ends)
