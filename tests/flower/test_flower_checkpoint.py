"""The server's checkpoint: whole or not at all, and only for the training it belongs to."""

import io
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from wola.flower.checkpoint import Saved, load_checkpoint, save_checkpoint
from wola.flower.ledger import RoundRecord
from wola.ground.sealed import sealed_bytes
from wola.training import CheckpointError

IDENTITY: dict[str, Any] = {"federation": "lab", "recipe": {"lr": 0.5, "beta": 0.9}}

LINE = RoundRecord(1, "train", (1001,), {}, {}, {}, n=1, f=0).to_json()


#: A key in hexadecimal, a node that needs 64 bits, a row of the server's own.
KNOWLEDGE: dict[str, dict[str | int, torch.Tensor]] = {
    "memory": {"ab" * 32: torch.tensor(2.0), 2**63 + 11: torch.tensor([3], dtype=torch.int64)},
    "reports": {2**63 + 11: torch.tensor([0.25, 0.75], dtype=torch.float64)},
    "rows": {"mean": torch.ones(1, 4)},
}


def saved() -> Saved:
    return Saved(
        run="0" * 32,
        round=3,
        parameters=torch.arange(4.0),
        statistics=torch.zeros(0),
        server={"velocity": torch.ones(4)},
        q=torch.tensor([0.5, 0.5], dtype=torch.float64),
        knowledge=KNOWLEDGE,
        lines=[LINE],
    )


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "server.pt"
    assert load_checkpoint(path, IDENTITY) is None
    save_checkpoint(path, IDENTITY, saved())
    found = load_checkpoint(path, IDENTITY)
    assert found is not None
    assert (found.run, found.round, found.lines) == ("0" * 32, 3, [LINE])
    assert torch.equal(found.parameters, torch.arange(4.0))
    assert torch.equal(found.server["velocity"], torch.ones(4))
    assert found.q.dtype == torch.float64
    assert found.knowledge.keys() == KNOWLEDGE.keys()
    for kind, kept in KNOWLEDGE.items():
        assert found.knowledge[kind].keys() == kept.keys()
        for name, values in kept.items():
            assert found.knowledge[kind][name].dtype == values.dtype
            assert torch.equal(found.knowledge[kind][name], values)


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


def refused(path: Path, content: bytes) -> str:
    """Why a checkpoint of this content is refused; it is gone, or was none."""
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="is no checkpoint, or is damaged") as error:
        load_checkpoint(path, IDENTITY)
    if path.exists():
        assert "does not begin with a checksum" in str(error.value)
        path.unlink()
    else:
        (aside,) = path.parent.glob("c.damaged-*")
        assert str(aside) in str(error.value)
        assert aside.read_bytes() == content
        aside.unlink()
    return str(error.value)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "c"
    save_checkpoint(path, IDENTITY, saved())
    return path.read_bytes()


def test_no_flipped_bit_is_overlooked(whole: bytes, tmp_path: Path) -> None:
    draws = random.Random(1)
    for _ in range(200):
        at = draws.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[at] ^= 1 << draws.randrange(8)
        refused(tmp_path / "c", bytes(flipped))


def test_no_cut_and_no_zeroed_range_is_overlooked(whole: bytes, tmp_path: Path) -> None:
    draws = random.Random(2)
    for _ in range(60):
        start, stop = sorted(draws.sample(range(len(whole)), 2))
        refused(tmp_path / "c", whole[:stop])
        refused(tmp_path / "c", whole + bytes(start + 1))
        if any(whole[start:stop]):
            refused(tmp_path / "c", whole[:start] + bytes(stop - start) + whole[stop:])


def sealed_archive(content: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return sealed_bytes(buffer.getvalue())


def fields(**changes: Any) -> dict[str, Any]:
    about = json.dumps(IDENTITY)
    return {"format": 2, "identity": about, **vars(saved()), **changes}


@pytest.mark.parametrize(
    "name", ["identity", "run", "round", "parameters", "q", "knowledge", "lines"]
)
def test_a_file_that_lacks_a_field_is_refused(name: str, tmp_path: Path) -> None:
    content = fields()
    del content[name]
    assert name in refused(tmp_path / "c", sealed_archive(content))


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        fields(identity="null"),
        fields(identity="[1]"),
        fields(identity=3),
        fields(parameters=[0.0]),
        fields(round="3"),
        fields(knowledge=[]),
        fields(knowledge={}),
        fields(knowledge={**KNOWLEDGE, "more": {}}),
        fields(knowledge={**KNOWLEDGE, "memory": [1.0]}),
        fields(knowledge={**KNOWLEDGE, "reports": {1001: [0.5, 0.5]}}),
        fields(knowledge={**KNOWLEDGE, "rows": {0.5: torch.ones(1)}}),
        fields(lines=None),
        fields(lines=["null"]),
        fields(lines=["[]"]),
        fields(lines=["{}"]),
        fields(surprise=1),
    ],
    ids=lambda content: repr(content)[:20],
)
def test_a_whole_file_of_something_else_is_refused(content: Any, tmp_path: Path) -> None:
    refused(tmp_path / "c", sealed_archive(content))


def test_a_whole_file_of_no_archive_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"null", b"[]", pickle.dumps(fields(parameters=[], q=[]))):
        refused(tmp_path / "c", sealed_bytes(content))


def test_a_file_of_another_format_is_refused_and_stays(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(sealed_archive(fields(format=99)))
    with pytest.raises(CheckpointError, match="format 99; allowed: 2"):
        load_checkpoint(tmp_path / "c", IDENTITY)
    assert (tmp_path / "c").exists()


def test_a_file_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot be read: Is a directory"):
        load_checkpoint(tmp_path, IDENTITY)
