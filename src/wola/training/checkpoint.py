"""A checkpoint: one file with all that a run needs to go on, bit for bit."""

import io
import json
import pickle
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from wola.ground.checks import check_whole
from wola.ground.files import write_whole
from wola.training.scenario import SEMANTICS, Scenario

#: What reading a file that is no checkpoint, or half of one, may raise.
UNREADABLE = (
    AttributeError,
    EOFError,
    KeyError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    pickle.UnpicklingError,
)


class CheckpointError(ValueError):
    """A checkpoint that cannot be used, and why."""


@dataclass(frozen=True)
class Checkpoint:
    """Where a run saves itself, and after how many steps each time.

    The file holds tensors and plain values only and is read with ``weights_only=True``; it is
    replaced as a whole, so a killed run leaves the last whole one.
    """

    path: str | PathLike[str]
    every: int = 50

    def __post_init__(self) -> None:
        check_whole("every", self.every, least=1)

    def save(self, scenario: Scenario, state: Mapping[str, Any]) -> None:
        """Writes the state of a run of this scenario."""
        buffer = io.BytesIO()
        content = {"record": json.dumps(scenario.record()), "state": dict(state)}
        torch.save(content, buffer)
        write_whole(Path(self.path), buffer.getvalue())

    def load(self, scenario: Scenario) -> dict[str, Any] | None:
        """The state saved for this scenario; None if there is no file yet."""
        if not Path(self.path).exists():
            return None
        try:
            # Whole archives alone: the older pickle format of PyTorch is never written here.
            if not zipfile.is_zipfile(self.path):
                raise ValueError("no archive of PyTorch")
            content = torch.load(self.path, map_location=scenario.device, weights_only=True)
            record = json.loads(content["record"])
            semantics, written = record["semantics"], record["fields"]
            state: dict[str, Any] = content["state"]
        except UNREADABLE as error:
            reason = str(error).split("\n")[0]
            raise CheckpointError(
                f"{self.path} is no checkpoint, or is damaged: {reason}"
            ) from error
        if semantics != SEMANTICS:
            raise CheckpointError(
                f"{self.path} was written by a version with semantics {semantics!r}; allowed: "
                f"{SEMANTICS!r}"
            )
        here = scenario.record()
        if differing := _differences(_all_fields(written), _all_fields(here["fields"])):
            raise CheckpointError(f"{self.path} belongs to another scenario: {differing}")
        if differing := _differences(record["content"], here["content"]):
            raise CheckpointError(f"{self.path} was written with other content: {differing}")
        return state

    def remove(self) -> None:
        """Takes the file away, if it is there."""
        Path(self.path).unlink(missing_ok=True)


def _all_fields(differing: Mapping[str, Any]) -> dict[str, Any]:
    return Scenario.stored(differing).model_dump()


def _differences(written: dict[str, Any], given: dict[str, Any]) -> str:
    names = [k for k in sorted(written | given) if written.get(k) != given.get(k)]
    return ", ".join(f"{k} = {written.get(k)!r} there, {given.get(k)!r} here" for k in names)
