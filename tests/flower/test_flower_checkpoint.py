"""The server's checkpoint: whole or not at all, and only for the training it belongs to."""

from pathlib import Path
from typing import Any

import pytest
import torch

from wola.flower.checkpoint import Saved, load_checkpoint, save_checkpoint
from wola.training import CheckpointError

IDENTITY: dict[str, Any] = {"federation": "lab", "recipe": {"lr": 0.5, "beta": 0.9}}


def saved() -> Saved:
    return Saved(
        run="0" * 32,
        round=3,
        parameters=torch.arange(4.0),
        statistics=torch.zeros(0),
        server={"velocity": torch.ones(4)},
        q=torch.tensor([0.5, 0.5], dtype=torch.float64),
        lines=['{"round":1}'],
    )


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "server.pt"
    assert load_checkpoint(path, IDENTITY) is None
    save_checkpoint(path, IDENTITY, saved())
    found = load_checkpoint(path, IDENTITY)
    assert found is not None
    assert (found.run, found.round, found.lines) == ("0" * 32, 3, ['{"round":1}'])
    assert torch.equal(found.parameters, torch.arange(4.0))
    assert torch.equal(found.server["velocity"], torch.ones(4))
    assert found.q.dtype == torch.float64


def test_another_training_is_refused_and_told_apart(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c", IDENTITY, saved())
    other = {**IDENTITY, "federation": "other"}
    with pytest.raises(CheckpointError, match="federation = 'lab' there, 'other' here"):
        load_checkpoint(tmp_path / "c", other)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04"])
def test_a_damaged_file_is_an_error_that_names_it(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"c is no checkpoint, or is damaged"):
        load_checkpoint(tmp_path / "c", IDENTITY)


def test_half_a_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "c"
    save_checkpoint(path, IDENTITY, saved())
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match="damaged"):
        load_checkpoint(path, IDENTITY)


def test_a_file_with_other_fields_or_of_another_format_is_refused(tmp_path: Path) -> None:
    torch.save({"format": 1, "identity": "{}", "surprise": 1}, tmp_path / "fields")
    with pytest.raises(CheckpointError, match="damaged"):
        load_checkpoint(tmp_path / "fields", {})
    torch.save({"format": 99, "identity": "{}"}, tmp_path / "format")
    with pytest.raises(CheckpointError, match="format 99; allowed: 1"):
        load_checkpoint(tmp_path / "format", {})
