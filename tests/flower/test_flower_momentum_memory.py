"""What a client remembers of its momenta, and what it does not."""

import logging
import os
import random
import stat
from pathlib import Path

import pytest
import torch

from wola.flower import momentum_memory
from wola.flower.momentum_memory import HEAD, KEPT_RUNS, MomentumMemory
from wola.flower.recent_tensors import RecentTensors
from wola.ground import WriteError
from wola.ground.sealed import sealed_bytes, unsealed_bytes


def memory(folder, run="0" * 32, federation="lab", worker=4):
    return MomentumMemory(Path(folder), federation=federation, run=run, worker=worker)


@pytest.fixture(params=["a process that lives on", "a process for each message"], autouse=True)
def process(request, monkeypatch):
    """Whether momenta stay in memory between two messages."""
    most = 2**20 if request.param == "a process that lives on" else 0
    monkeypatch.setattr(momentum_memory, "RECENT", RecentTensors(most))


def rounds(folder):
    """The rounds on disk."""
    paths = [path for path in memory(folder).paths if path.exists()]
    return {int.from_bytes(unsealed_bytes(path.read_bytes())[:8], "big") for path in paths}


def newest(kept):
    """The file of the last round."""
    there = [path for path in kept.paths if path.exists()]
    return max(there, key=lambda path: unsealed_bytes(path.read_bytes())[:8])


def vector(value, size=3):
    return torch.full((size,), float(value))


def test_there_is_nothing_to_remember_at_first(tmp_path):
    assert memory(tmp_path).before(1, 3).tolist() == [0.0] * 3


def test_the_last_two_rounds_are_kept(tmp_path):
    for step in (1, 2, 5):
        memory(tmp_path).keep(step, vector(step))
    assert [memory(tmp_path).before(step, 3)[0].item() for step in (3, 5, 6, 9)] == [2, 2, 5, 5]
    assert rounds(tmp_path) == {2, 5}


def test_a_round_that_is_asked_again_replaces_itself_and_what_came_after(tmp_path):
    for step, value in ((1, 1), (2, 2), (3, 3), (3, 30)):
        memory(tmp_path).keep(step, vector(value))
    assert rounds(tmp_path) == {2, 3}
    assert memory(tmp_path).before(4, 3)[0] == 30
    memory(tmp_path).keep(2, vector(20))
    assert rounds(tmp_path) == {2}


def test_a_round_long_past_starts_from_zero_and_says_so(tmp_path, caplog):
    for step in (7, 8):
        memory(tmp_path).keep(step, vector(step))
    with caplog.at_level(logging.WARNING):
        assert memory(tmp_path).before(7, 3).tolist() == [0.0] * 3
    assert "round 7 is asked again" in caplog.text


@pytest.mark.parametrize("change", [{"run": "1" * 32}, {"federation": "other"}, {"worker": 5}])
def test_another_run_federation_or_worker_has_a_memory_of_its_own(tmp_path, change):
    memory(tmp_path).keep(1, vector(1))
    assert memory(tmp_path, **change).before(2, 3).tolist() == [0.0] * 3


def test_no_text_from_the_server_leads_out_of_the_folder(tmp_path):
    for path in memory(tmp_path, federation="../../..", run="../../x").paths:
        assert path.resolve().is_relative_to(tmp_path.resolve())


def damaged(content):
    """A content damaged in every way that a disk or a person has."""
    draws = random.Random(1)
    for _ in range(40):
        at = draws.randrange(len(content))
        flipped = bytearray(content)
        flipped[at] ^= 1 << draws.randrange(8)
        yield bytes(flipped)
        yield content[:at]
        start = draws.randrange(at + 1)
        yield content[:start] + bytes(at + 1 - start) + content[at + 1 :]
    yield from (b"null", b"[]", sealed_bytes(b""), sealed_bytes(bytes(7)), sealed_bytes(bytes(11)))
    inside = unsealed_bytes(content)
    for value in (torch.nan, torch.inf, -torch.inf):
        yield sealed_bytes(inside[:8] + vector(value).numpy().tobytes())


def test_damage_is_said_set_aside_and_never_used(tmp_path, caplog, monkeypatch):
    kept = memory(tmp_path)
    kept.keep(1, vector(0.1))
    path = newest(kept)
    whole = path.read_bytes()
    for content in damaged(whole):
        if content == whole:
            continue
        caplog.clear()
        path.write_bytes(content)
        # What a process holds in memory it need not read: only another one meets the damage.
        if content[:HEAD] == whole[:HEAD] and kept.before(2, 3).tolist() == vector(0.1).tolist():
            monkeypatch.setattr(momentum_memory, "RECENT", RecentTensors())
        with caplog.at_level(logging.WARNING):
            assert kept.before(2, 3).tolist() == [0.0] * 3
        assert "cannot be used" in caplog.text
        assert not path.exists()
        assert path.with_suffix(".damaged").read_bytes() == content
    kept.keep(2, vector(2))
    assert kept.before(3, 3)[0] == 2


def test_a_damaged_last_momentum_leaves_the_one_before_it(tmp_path):
    kept = memory(tmp_path)
    for step in (1, 2):
        kept.keep(step, vector(step))
    newest(kept).write_bytes(b"")
    assert kept.before(3, 3)[0] == 1
    kept.keep(3, vector(3))
    assert rounds(tmp_path) == {1, 3}


def test_a_momentum_that_another_process_wrote_is_the_one_that_counts(tmp_path, monkeypatch):
    mine = momentum_memory.RECENT
    memory(tmp_path).keep(1, vector(1))
    monkeypatch.setattr(momentum_memory, "RECENT", RecentTensors())
    memory(tmp_path).keep(1, vector(10))
    monkeypatch.setattr(momentum_memory, "RECENT", mine)
    assert memory(tmp_path).before(2, 3)[0] == 10


def test_what_the_caller_does_to_its_momentum_later_is_not_remembered(tmp_path):
    momentum = vector(1)
    memory(tmp_path).keep(1, momentum)
    momentum.fill_(7.0)
    assert memory(tmp_path).before(2, 3)[0] == 1


def test_a_client_killed_while_it_writes_goes_on_from_the_round_before(tmp_path, monkeypatch):
    for step in (1, 2, 3):
        memory(tmp_path).keep(step, vector(step))
    path = newest(memory(tmp_path))
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        monkeypatch.setattr(momentum_memory, "RECENT", RecentTensors())
        assert memory(tmp_path).before(3, 3)[0] == 2
        assert memory(tmp_path).before(4, 3)[0] == 2


def test_a_momentum_is_on_disk_when_keeping_it_returns(tmp_path):
    memory(tmp_path).keep(4, vector(4))
    assert rounds(tmp_path) == {4}


def test_a_momentum_of_another_size_is_none(tmp_path):
    memory(tmp_path).keep(1, vector(1, size=5))
    assert memory(tmp_path).before(2, 3).tolist() == [0.0] * 3


def test_old_runs_are_forgotten(tmp_path):
    runs = [f"{i:032x}" for i in range(KEPT_RUNS + 2)]
    for age, run in enumerate(runs):
        kept = memory(tmp_path, run)
        kept.keep(1, vector(age))
        os.utime(newest(kept), (age, age))
    memory(tmp_path, runs[-1]).keep(2, vector(9))
    left = [run for run in runs if any(map(os.path.exists, memory(tmp_path, run).paths))]
    assert left == runs[-KEPT_RUNS:]


def test_a_folder_that_cannot_be_written_is_an_error_that_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises((WriteError, OSError)):
        memory(tmp_path / "file").keep(1, vector(1))


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_the_folder_is_its_owners_alone(tmp_path):
    memory(tmp_path / "state").keep(1, vector(1))
    for folder in (tmp_path / "state", *(tmp_path / "state").iterdir()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
