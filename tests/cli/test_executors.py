"""Which executor the flags of `wola bench` ask for."""

import pytest
import torch

from wola.bench.executors.local import LocalExecutor
from wola.bench.executors.ray import RayExecutor
from wola.bench.executors.slurm import SlurmExecutor
from wola.bench.grid import Grid
from wola.bench.trackers import Trackers
from wola.cli import executors
from wola.cli.errors import Refused
from wola.cli.executors import ExecutorFlags, executor_of
from wola.training import Scenario

CPU, CUDA = [Scenario()], [Scenario(device="cuda")]


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(executors, "devices", lambda: ["cpu", "cuda:0", "cuda:1"])


def test_without_flags_runs_go_over_the_cores_of_this_machine():
    assert executor_of(ExecutorFlags(), Grid(), CPU) == LocalExecutor()


def test_several_runs_are_packed_on_each_device(two_gpus):
    executor = executor_of(ExecutorFlags(runs_per_gpu=3), Grid(), CUDA)

    assert executor == LocalExecutor(processes=6, gpus=("0", "1"))


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(Refused, match=r"--device = 'cuda'; allowed here: cpu"):
        executor_of(ExecutorFlags(), Grid(), CUDA)


def test_on_a_cluster_a_run_has_what_the_grid_states():
    grid = Grid(cpus=2.0, gpus=0.5)

    executor = executor_of(ExecutorFlags(ray="auto"), grid, CUDA)

    assert executor == RayExecutor("auto", cpus=2.0, gpus=0.5)


def test_on_a_cluster_runs_share_a_device_as_asked():
    executor = executor_of(ExecutorFlags(ray="auto", runs_per_gpu=4), Grid(), CUDA)

    assert executor == RayExecutor("auto", cpus=1.0, gpus=0.25)


def test_slurm_jobs_ask_for_a_device_if_runs_need_one():
    flags = ExecutorFlags(slurm=True, jobs=3, runs_per_gpu=2, slurm_partition="gpu")

    assert executor_of(flags, Grid(), CUDA) == SlurmExecutor(
        3, 2, 240, {"slurm_partition": "gpu", "gpus_per_node": 1}
    )
    assert executor_of(ExecutorFlags(slurm=True), Grid(), CPU) == SlurmExecutor(8, 1, 240, {})


def test_a_missing_library_is_refused_with_the_extra_that_brings_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)

    with pytest.raises(Refused, match=r"wola\[ray\]"):
        executor_of(ExecutorFlags(ray="auto"), Grid(), CPU)


def test_a_tracker_is_for_runs_on_this_machine():
    flags = ExecutorFlags(slurm=True, trackers=Trackers(mlflow="sqlite:///m.db", wandb="mine"))

    with pytest.raises(Refused, match=r"--mlflow, --wandb with --ray or --slurm; allowed: with"):
        executor_of(flags, Grid(), CPU)


def test_a_tracker_that_cannot_be_used_is_refused_before_any_run():
    flags = ExecutorFlags(trackers=Trackers(mlflow="http://127.0.0.1:9"))

    with pytest.raises(Refused, match=r"--mlflow = 'http://127.0.0.1:9': no server answers there"):
        executor_of(flags, Grid(), CPU)
