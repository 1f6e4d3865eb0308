"""Executors: what does the runs of a grid, on this machine, a Ray cluster or a SLURM cluster."""

from wola.bench.executors.local import LocalExecutor
from wola.bench.executors.ray import RayExecutor
from wola.bench.executors.slurm import SlurmExecutor

__all__ = ["LocalExecutor", "RayExecutor", "SlurmExecutor"]
