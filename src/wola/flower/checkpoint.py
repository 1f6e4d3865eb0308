"""The server's checkpoint: one file with all that a run needs to continue at the next round."""

import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import torch
from torch import Tensor

from wola.flower.ledger import RoundRecord
from wola.ground.files import write_whole
from wola.ground.sealed import MAGIC, sealed_bytes, unsealed_bytes
from wola.training.checkpoint import UNREADABLE, CheckpointError

#: What is kept of what the server knows, by kind and then by the name of a client or of a row.
Kept: TypeAlias = dict[str, dict[str | int, Tensor]]
KINDS_OF_KNOWLEDGE = ("memory", "reports", "rows")

#: Changes whenever a file of before would be read wrongly.
FORMAT = 2


@dataclass(frozen=True, eq=False)
class Saved:
    """What a checkpoint holds: the lineage `run`, the last round, the model, q and the records.

    `parameters` (d,), `statistics` (s,), `server` the optimiser's memory, `q` (C,) float64,
    `knowledge` what the server knows beside the updates (the rule's memory, label reports and the
    server's own rows), `lines` the records of the rounds so far as JSON.
    """

    run: str
    round: int
    parameters: Tensor
    statistics: Tensor
    server: dict[str, Tensor]
    q: Tensor
    knowledge: Kept
    lines: list[str]


def save_checkpoint(path: str | PathLike[str], identity: Mapping[str, Any], saved: Saved) -> None:
    """Writes the file as a whole: a server killed at any time leaves the old one or the new one.

    `identity` is what a run must have in common with one that continues it, as plain values.
    """
    buffer = io.BytesIO()
    about = json.dumps(dict(identity), sort_keys=True)
    torch.save({"format": FORMAT, "identity": about, **vars(saved)}, buffer)
    write_whole(Path(path), sealed_bytes(buffer.getvalue()))


def load_checkpoint(path: str | PathLike[str], identity: Mapping[str, Any]) -> Saved | None:
    """What the file holds; None if there is none; `CheckpointError` if it cannot be used.

    A damaged checkpoint is set aside under another name, which the error tells; a file that is
    none stays where it is.
    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from error
    if not content.startswith(MAGIC):
        raise CheckpointError(
            f"{path} is no checkpoint, or is damaged: it does not begin with a checksum; allowed: "
            "a file that was written here, or none"
        )
    try:
        # Whole archives alone: the older pickle format of PyTorch is never written here.
        archive = io.BytesIO(unsealed_bytes(content))
        if not zipfile.is_zipfile(archive):
            raise ValueError("no archive of PyTorch")
        archive.seek(0)
        fields = torch.load(archive, map_location="cpu", weights_only=True)
        written, found = fields.pop("format"), dict(json.loads(fields.pop("identity")))
        saved = _checked(Saved(**fields)) if written == FORMAT else None
    except (*UNREADABLE, RecursionError) as error:
        reason = str(error).split("\n")[0]
        raise CheckpointError(
            f"{path} is no checkpoint, or is damaged: {reason}; it is now {_set_aside(file)}: put "
            "a whole one in its place, or start again to begin at round 1"
        ) from error
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


def _checked(saved: Saved) -> Saved:
    kinds = {"run": str, "round": int, "server": dict, "knowledge": dict, "lines": list}
    kinds |= dict.fromkeys(("parameters", "statistics", "q"), Tensor)
    for name, kind in kinds.items():
        if not isinstance(getattr(saved, name), kind):
            raise TypeError(f"{name} is a {type(getattr(saved, name)).__name__}")
    if set(saved.knowledge) != set(KINDS_OF_KNOWLEDGE):
        raise TypeError(f"knowledge holds {sorted(map(str, saved.knowledge))}")
    for what, kept in saved.knowledge.items():
        if not isinstance(kept, dict):
            raise TypeError(f"knowledge of {what} is a {type(kept).__name__}")
        for owner, values in kept.items():
            if not isinstance(owner, str | int) or not isinstance(values, Tensor):
                raise TypeError(f"knowledge of {what} has a {type(values).__name__} for {owner!r}")
    for line in saved.lines:
        RoundRecord.from_json(line)
    return saved


def _set_aside(path: Path) -> Path:
    aside = path.with_name(f"{path.name}.damaged-{uuid4().hex[:8]}")
    try:
        os.replace(path, aside)
    except OSError:
        return path
    return aside
