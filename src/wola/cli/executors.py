"""Which executor the flags of `wola bench` ask for."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from wola.bench.curves import TrackerRefused
from wola.bench.executors.local import LocalExecutor
from wola.bench.executors.ray import RayExecutor
from wola.bench.executors.slurm import SlurmExecutor
from wola.bench.grid import Grid
from wola.bench.run import Executor
from wola.bench.trackers import NO_TRACKERS, Trackers
from wola.cli.doctor import devices
from wola.cli.errors import Refused
from wola.ground.extras import MissingExtra
from wola.training import Scenario


@dataclass(frozen=True)
class ExecutorFlags:
    """What the flags of `wola bench` ask for: see its help."""

    processes: int | None = None
    ray: str | None = None
    slurm: bool = False
    jobs: int = 8
    job_minutes: int = 240
    slurm_partition: str | None = None
    runs_per_gpu: int = 1
    trackers: Trackers = NO_TRACKERS
    run_minutes: float | None = None


def executor_of(flags: ExecutorFlags, grid: Grid, scenarios: Sequence[Scenario]) -> Executor:
    """The executor; what cannot be together, or is not installed, is refused."""
    if flags.ray is not None and flags.slurm:
        raise Refused("--ray and --slurm; allowed: one of the two")
    followed = ", ".join(flags.trackers.flags)
    if followed and (flags.ray is not None or flags.slurm):
        raise Refused(f"{followed} with --ray or --slurm; allowed: with runs on this machine")
    if flags.run_minutes is not None and flags.ray is not None:
        raise Refused("--run-minutes with --ray; allowed: with runs on this machine or --slurm")
    on_gpu = any(torch.device(scenario.device).type == "cuda" for scenario in scenarios)
    try:
        if flags.ray is not None:
            share = 1.0 / flags.runs_per_gpu if on_gpu else 0.0
            return RayExecutor(flags.ray, cpus=grid.cpus, gpus=grid.gpus or share)
        if flags.slurm:
            return _slurm(flags, on_gpu)
        flags.trackers.check()
    except (MissingExtra, TrackerRefused) as error:
        raise Refused(str(error)) from None
    return _local(flags, scenarios, on_gpu)


def _slurm(flags: ExecutorFlags, on_gpu: bool) -> SlurmExecutor:
    parameters: dict[str, str | int] = {}
    if flags.slurm_partition is not None:
        parameters["slurm_partition"] = flags.slurm_partition
    if on_gpu:
        parameters["gpus_per_node"] = 1
    processes = flags.processes or (flags.runs_per_gpu if on_gpu else 1)
    return SlurmExecutor(
        flags.jobs, processes, flags.job_minutes, parameters, run_minutes=flags.run_minutes
    )


def _local(flags: ExecutorFlags, scenarios: Sequence[Scenario], on_gpu: bool) -> LocalExecutor:
    kinds = {name.partition(":")[0] for name in devices()}
    for name in {scenario.device for scenario in scenarios}:
        if torch.device(name).type not in kinds:
            raise Refused(f"--device = {name!r}; allowed here: {', '.join(devices())}")
    gpus = tuple(map(str, range(torch.cuda.device_count()))) if on_gpu else ()
    processes = flags.processes or (len(gpus) * flags.runs_per_gpu or None)
    return LocalExecutor(processes, gpus, flags.trackers, flags.run_minutes)
