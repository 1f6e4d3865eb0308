"""A run folder: the scenario, the summary, the metrics and the model, each a whole file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
from safetensors.torch import load, save
from torch import Tensor

from wola.ground.files import clear_leftovers, remove_file, write_whole
from wola.ground.sealed import check_digest, read_sealed, sealed
from wola.ground.tables import read_table, table_bytes
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
    when a new run starts, so a folder that has one is complete. Scenario and summary carry their
    own checksum, and the summary those of metrics and model: what is not as it was written is a
    `Damaged`, never a result.
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
        checkpoint = self.checkpoint(every)
        opening = _Opening(self.path)
        result = simulate(
            scenario, callbacks=[opening, *callbacks], checkpoint=checkpoint, resume=resume
        )
        self.keep(result)
        checkpoint.remove()
        return result

    def checkpoint(self, every: int = 50) -> Checkpoint:
        """The checkpoint of a run under way, whether it is there or not."""
        return Checkpoint(self.path / "checkpoint.pt", every)

    def keep(self, result: Result) -> None:
        """Writes the files of a run that is over."""
        metrics, model = table_bytes(result.frame()), save(result.state)
        checksums = {"metrics_sha256": _sha256(metrics), "model_sha256": _sha256(model)}
        write_whole(self.path / "scenario.json", _json(result.record()))
        write_whole(self.path / "metrics.parquet", metrics)
        write_whole(self.path / "model.safetensors", model)
        write_whole(self.path / "summary.json", _json({**result.summary(), **checksums}))

    @property
    def complete(self) -> bool:
        """Whether the folder holds a run that is over."""
        return (self.path / "summary.json").is_file()

    def record(self) -> dict[str, Any]:
        """What makes the run what it is: its semantics, fields and content."""
        return read_sealed(self.path / "scenario.json")

    def scenario(self) -> Scenario:
        """The scenario of the run; what it names is imported, as it is about to be run."""
        return Scenario(**self.record()["fields"])

    def summary(self) -> dict[str, Any]:
        """The summary of the run."""
        return read_sealed(self.path / "summary.json")

    def metrics(self) -> pl.DataFrame:
        """One row per step."""
        return read_table(self._verified("metrics.parquet", "metrics_sha256"))

    def model_state(self) -> dict[str, Tensor]:
        """The final model's tensors by name."""
        return load(self._verified("model.safetensors", "model_sha256"))

    def _verified(self, name: str, checksum: str) -> bytes:
        path = self.path / name
        return check_digest(path, path.read_bytes(), self.summary().get(checksum))


class _Opening(Callback):
    """Opens the folder once the run can start, so that a refused one leaves nothing behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_start(self, scenario: Scenario, federation: Federation, step: int) -> None:
        """Writes the scenario, takes an older summary away and what a killed run left."""
        clear_leftovers(self.path)
        write_whole(self.path / "scenario.json", _json(scenario.record()))
        remove_file(self.path / "summary.json")


def _json(value: Mapping[str, Any]) -> bytes:
    return sealed(value, indent=2)


def _sha256(content: bytes) -> str:
    return sha256(content).hexdigest()
