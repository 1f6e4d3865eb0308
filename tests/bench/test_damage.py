"""Damage to files of every kind: never a result, never a traceback, always named."""

import io
import random
import shutil
import warnings
from pathlib import Path

import polars as pl
import pytest
import torch
from polars.exceptions import PanicException

from tests.bench.damage import KINDS, Kind, prepared, survived
from wola.bench.cleanup import clean_up
from wola.bench.store import Store
from wola.ground.sealed import Damaged, sealed_bytes, unsealed_bytes
from wola.ground.tables import read_table, table_bytes
from wola.training import CheckpointError

#: How often each kind of file is damaged: about a thousand times in all.
TRIES = 1000 // len(KINDS) + 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, a run folder and an export, each with files of every kind."""
    made = tmp_path_factory.mktemp("whole")
    prepared(made)
    return made


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_damage_at_random_is_named_and_never_used(folder: Path, kind: Kind) -> None:
    rng = random.Random(f"damage to {kind.name}")
    passed = [survived(folder, kind, rng) for _ in range(TRIES)]
    assert [reason for reason in passed if reason] == []


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b"{}", b"3", b'"text"', b"\xff\xfe"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_other_content_is_named(folder: Path, kind: Kind, content: bytes) -> None:
    path = kind.file(folder)
    whole = path.read_bytes()
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(kind.named):
                kind.read(folder)
    finally:
        path.write_bytes(whole)


def test_a_checkpoint_that_lacks_fields_is_named(folder: Path) -> None:
    kind = next(kind for kind in KINDS if kind.name == "checkpoint")
    path = kind.file(folder)
    whole = path.read_bytes()
    shorter = folder / "shorter.pt"
    found = torch.load(io.BytesIO(unsealed_bytes(whole)), weights_only=True)
    try:
        for name in ("round", "steps", "evaluations", "good", "ending"):
            kept = {key: value for key, value in found["state"].items() if key != name}
            torch.save({**found, "state": kept}, shorter)
            path.write_bytes(sealed_bytes(shorter.read_bytes()))
            with pytest.raises(CheckpointError, match=name):
                kind.read(folder)
    finally:
        path.write_bytes(whole)


def test_a_clean_up_sets_every_damaged_file_aside(folder: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    shutil.copytree(folder / "store", store.path)
    (checkpoint,) = store.path.glob("live/*.pt")
    checkpoint.rename(checkpoint.with_name("of-a-run-that-is-not-done.pt"))
    names = ("failed/*.json", "coincidences/*.json", "strategies/*.json", "live/*.pt")
    paths = [path for name in (*names, "index.parquet") for path in store.path.glob(name)]
    assert len(paths) >= 5
    for path in paths:
        path.write_bytes(path.read_bytes()[:-3])
    cleaned = clean_up(store)
    assert set(cleaned.damaged_files) == set(map(str, paths))
    assert not any(path.exists() for path in paths)
    assert len(list((store.path / "corrupt").iterdir())) == len(paths)
    assert clean_up(store, corrupt=True).corrupt == len(paths)


def test_a_panic_of_polars_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: object, **__: object) -> None:
        raise PanicException("index out of bounds")

    content = table_bytes(pl.DataFrame({"step": [1]}))
    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(Damaged, match="no Parquet table"):
        read_table(content)
