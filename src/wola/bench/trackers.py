"""Who else follows the runs of a grid: TensorBoard, MLflow, Weights & Biases."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from wola.bench.curves import Curves
from wola.bench.events import short_name
from wola.bench.mlflow import MLflowCurves, check_mlflow
from wola.bench.task import Task
from wola.bench.tensorboard import TensorBoardCurves, check_tensorboard
from wola.bench.wandb import WandbCurves, check_wandb


@dataclass(frozen=True)
class Trackers:
    """Where the curves of runs go besides the store; nowhere by default.

    `tensorboard` is a folder, `mlflow` the address of a store, `wandb` the name of a project.
    Called with a task it is `Callbacks`: what follows that run.

    >>> Trackers(tensorboard=Path("curves"), wandb="robustness").flags
    ['--tensorboard', '--wandb']
    """

    tensorboard: Path | None = None
    mlflow: str | None = None
    wandb: str | None = None

    @property
    def flags(self) -> list[str]:
        """The flags of those that are asked for."""
        return [f"--{each.name}" for each in fields(self) if getattr(self, each.name) is not None]

    def check(self) -> None:
        """Refuses what is not installed or cannot be reached, before any run begins.

        It also makes MLflow's experiment, so that not every process tries to.
        """
        if self.tensorboard is not None:
            check_tensorboard()
        if self.mlflow is not None:
            check_mlflow(self.mlflow)
        if self.wandb is not None:
            check_wandb()

    def __call__(self, task: Task) -> list[Curves]:
        """What follows a run."""
        return list(self._curves(task))

    def _curves(self, task: Task) -> Iterator[Curves]:
        name = short_name(task.scenario)
        if self.tensorboard is not None:
            folder = name.replace("/", "-").replace(" ", "-")
            yield TensorBoardCurves(self.tensorboard / f"{folder}-{task.key[:8]}")
        if self.mlflow is not None:
            yield MLflowCurves(self.mlflow, name=name, key=task.key)
        if self.wandb is not None:
            yield WandbCurves(self.wandb, name=name, key=task.key)


#: Runs are followed by nobody else.
NO_TRACKERS = Trackers()
