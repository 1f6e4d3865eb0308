"""Curves for TensorBoard, written while runs are under way."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from wola.bench.events import short_name
from wola.bench.extras import needed
from wola.bench.task import Callbacks, Task, no_callbacks
from wola.training import Callback, Evaluation, Federation, Result, Scenario, StepRecord

if TYPE_CHECKING:
    from torch.utils.tensorboard.writer import SummaryWriter


def curves_in(folder: Path | None) -> Callbacks:
    """Callbacks that write the curves of a run into a folder below this one; None: no callbacks."""
    if folder is None:
        return no_callbacks
    check_tensorboard()

    def callbacks(task: Task) -> Sequence[Callback]:
        name = short_name(task.scenario).replace("/", "-").replace(" ", "-")
        return [Curves(folder / f"{name}-{task.key[:8]}")]

    return callbacks


def check_tensorboard() -> None:
    """Refuses to go on if TensorBoard is not installed."""
    needed("torch.utils.tensorboard", extra="tensorboard", what="--tensorboard")


class Curves(Callback):
    """Writes accuracy and loss at every test, and what is measured at every step.

    A run that starts again, or goes on, replaces what it had written from that step on.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.writer: SummaryWriter | None = None

    def on_start(self, scenario: Scenario, federation: Federation, step: int) -> None:
        """Opens the file."""
        from torch.utils.tensorboard.writer import SummaryWriter

        self.writer = SummaryWriter(str(self.folder), purge_step=step + 1)
        self.writer.add_text("scenario", f"```toml\n{scenario.to_toml()}```", step)

    def on_step(self, record: StepRecord) -> None:
        """Adds a point to the curves of the steps."""
        self._add("dissimilarity/gradients", record.dissimilarity_gradients, record.step)
        self._add("dissimilarity/momenta", record.dissimilarity_momenta, record.step)
        self._add("cosine", record.cosine, record.step)
        self._add("lr", record.lr, record.step)

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Adds a point to the curves of the tests."""
        self._add("accuracy", evaluation.accuracy, evaluation.step)
        self._add("loss", evaluation.loss, evaluation.step)

    def on_end(self, result: Result) -> None:
        """Closes the file."""
        if self.writer is not None:
            self.writer.close()

    def _add(self, name: str, value: float | None, step: int) -> None:
        if self.writer is not None and value is not None and isfinite(value):
            self.writer.add_scalar(name, value, step)
