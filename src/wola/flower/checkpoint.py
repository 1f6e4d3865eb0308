"""The server's checkpoint: one file with all that a run needs to continue at the next round."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from wola.ground.files import write_whole
from wola.training.checkpoint import UNREADABLE, CheckpointError

#: Changes whenever a file of before would be read wrongly.
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Saved:
    """What a checkpoint holds: the lineage `run`, the last round, the model, q and the records.

    `parameters` (d,), `statistics` (s,), `server` the optimiser's memory, `q` (C,) float64,
    `lines` the records of the rounds so far as JSON.
    """

    run: str
    round: int
    parameters: Tensor
    statistics: Tensor
    server: dict[str, Tensor]
    q: Tensor
    lines: list[str]


def save_checkpoint(path: str | PathLike[str], identity: Mapping[str, Any], saved: Saved) -> None:
    """Writes the file as a whole: a server killed at any time leaves the old one or the new one.

    `identity` is what a run must have in common with one that continues it, as plain values.
    """
    buffer = io.BytesIO()
    about = json.dumps(dict(identity), sort_keys=True)
    torch.save({"format": FORMAT, "identity": about, **vars(saved)}, buffer)
    write_whole(Path(path), buffer.getvalue())


def load_checkpoint(path: str | PathLike[str], identity: Mapping[str, Any]) -> Saved | None:
    """What the file holds; None if there is none; `CheckpointError` if it cannot be used."""
    if not Path(path).exists():
        return None
    try:
        # Whole archives alone: the older pickle format of PyTorch is never written here.
        if not zipfile.is_zipfile(path):
            raise ValueError("no archive of PyTorch")
        content = torch.load(path, map_location="cpu", weights_only=True)
        written, found = content.pop("format"), json.loads(content.pop("identity"))
        saved = Saved(**content) if written == FORMAT else None
    except UNREADABLE as error:
        reason = str(error).split("\n")[0]
        raise CheckpointError(f"{path} is no checkpoint, or is damaged: {reason}") from error
    if saved is None:
        raise CheckpointError(f"{path} has format {written!r}; allowed: {FORMAT}")
    given = json.loads(json.dumps(dict(identity), sort_keys=True))
    names = [name for name in sorted(found | given) if found.get(name) != given.get(name)]
    if names:
        differing = "; ".join(
            f"{name} = {found.get(name)!r} there, {given.get(name)!r} here" for name in names
        )
        raise CheckpointError(f"{path} belongs to another training: {differing}")
    return saved
