"""A run folder: the scenario, the summary, the metrics and the model, each a whole file."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from safetensors.torch import load_file, save
from torch import Tensor

from wola.ground.files import write_whole
from wola.training.callbacks import Callback
from wola.training.checkpoint import Checkpoint
from wola.training.federation import Federation
from wola.training.result import Result
from wola.training.scenario import Scenario
from wola.training.simulate import simulate


@dataclass(frozen=True)
class RunFolder:
    """Where a run is kept: scenario.json, summary.json, metrics.parquet, model.safetensors.

    While it runs there is a checkpoint.pt as well; the summary is written last, and taken away
    when a new run starts, so a folder that has one is complete.
    """

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    def train(
        self,
        scenario: Scenario,
        *,
        callbacks: Sequence[Callback] = (),
        every: int = 50,
        resume: bool = False,
    ) -> Result:
        """Runs a scenario with a checkpoint in the folder, and keeps what it gave."""
        checkpoint = Checkpoint(self.path / "checkpoint.pt", every)
        opening = _Opening(self.path)
        result = simulate(
            scenario, callbacks=[opening, *callbacks], checkpoint=checkpoint, resume=resume
        )
        self.keep(result)
        checkpoint.remove()
        return result

    def keep(self, result: Result) -> None:
        """Writes the files of a run that is over."""
        metrics = io.BytesIO()
        result.frame().write_parquet(metrics)
        write_whole(self.path / "scenario.json", _json(result.record()))
        write_whole(self.path / "metrics.parquet", metrics.getvalue())
        write_whole(self.path / "model.safetensors", save(result.state))
        write_whole(self.path / "summary.json", _json(result.summary()))

    @property
    def complete(self) -> bool:
        """Whether the folder holds a run that is over."""
        return (self.path / "summary.json").is_file()

    def scenario(self) -> Scenario:
        """The scenario of the run; what it names is imported, as it is about to be run."""
        record = json.loads((self.path / "scenario.json").read_bytes())
        return Scenario(**record["fields"])

    def summary(self) -> dict[str, Any]:
        """The summary of the run."""
        text = (self.path / "summary.json").read_text(encoding="utf-8")
        summary: dict[str, Any] = json.loads(text)
        return summary

    def metrics(self) -> pl.DataFrame:
        """One row per step."""
        return pl.read_parquet(self.path / "metrics.parquet")

    def model_state(self) -> dict[str, Tensor]:
        """The final model's tensors by name."""
        return load_file(self.path / "model.safetensors")


class _Opening(Callback):
    """Opens the folder once the run can start, so that a refused one leaves nothing behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_start(self, scenario: Scenario, federation: Federation, step: int) -> None:
        """Writes the scenario and takes an older summary away."""
        write_whole(self.path / "scenario.json", _json(scenario.record()))
        (self.path / "summary.json").unlink(missing_ok=True)


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()
