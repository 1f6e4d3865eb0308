"""Curves for TensorBoard, written while runs are under way."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from wola.bench.curves import Curves
from wola.ground.extras import needed
from wola.training import Federation, Result, Scenario

if TYPE_CHECKING:
    from torch.utils.tensorboard.writer import SummaryWriter


def check_tensorboard() -> None:
    """Refuses to go on if TensorBoard is not installed."""
    needed("torch.utils.tensorboard", extra="tensorboard", what="--tensorboard")


class TensorBoardCurves(Curves):
    """Writes the curves of a run into a folder of its own.

    A run that starts again, or goes on, replaces what it had written from that step on.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.writer: SummaryWriter | None = None

    def on_start(self, scenario: Scenario, federation: Federation, step: int) -> None:
        """Opens the file."""
        check_tensorboard()
        from torch.utils.tensorboard.writer import SummaryWriter

        self.writer = SummaryWriter(str(self.folder), purge_step=step + 1)
        self.writer.add_text("scenario", f"```toml\n{scenario.to_toml()}```", step)

    def add(self, points: Mapping[str, float], step: int) -> None:
        """Adds the points of a step to the file."""
        if self.writer is not None:
            for name, value in points.items():
                self.writer.add_scalar(name, value, step)

    def on_end(self, result: Result) -> None:
        """Closes the file."""
        if self.writer is not None:
            self.writer.close()
