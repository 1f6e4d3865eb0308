"""A checkpoint brings a run back bit for bit, or says why it cannot."""

import io
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time

import pytest
import torch

from tests.training import jobs
from wola.ground import WriteError
from wola.ground.sealed import sealed_bytes
from wola.training import Callback, Checkpoint, CheckpointError, Scenario, simulate
from wola.training.checkpoint import DamagedCheckpoint

SHORT = Scenario.paper("digits", strategy="WoLA+NNM", steps=30)
NORMALISED = "tests.models.factories:normalised_convnet"


def saved(value):
    """What PyTorch makes of a value."""
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


class Stop(Exception):
    """Ends a run from a callback."""


class StopAt(Callback):
    """Breaks a run off after a step."""

    def __init__(self, step):
        self.step = step

    def on_step(self, record):
        if record.step == self.step:
            raise Stop


class Starts(Callback):
    """Remembers where a run started."""

    def on_start(self, scenario, federation, step):
        self.step = step


def broken_off(scenario, checkpoint, step):
    with pytest.raises(Stop):
        simulate(scenario, callbacks=[StopAt(step)], checkpoint=checkpoint)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"attack": "mimic-variance", "server": "adam"},
        {"attack": "worst-of(attacks=(sf, mimic-variance(warmup=3)))", "aggregator": "krum"},
        {"attack": "lf", "server": "momentum", "local_steps": 2},
        {"attack": "poisoned-fl(period=2)", "server": "adam"},
        {"attack": "worst-of(attacks=(sf, poisoned-fl(period=4)))", "aggregator": "krum"},
        {"attack": "span-search(evaluations=10)", "mixing": "nnm"},
        {"attack": "beyond", "participants": 12},
        {"attack": "patient(rounds=3, attack=beyond(angle=30))", "participants": 12},
        {"attack": "fang-trim(knowledge=partial)", "participants": 12},
        {"attack": "fang-krum(knowledge=partial)", "model": NORMALISED, "batch": 16},
        {"attack": "tilt", "aggregator": "fltrust", "server_data": "equal(samples=50)"},
        {"mixing": "bucketing", "byzantine": 2, "attack": "gaussian", "participants": 12},
        {"model": NORMALISED, "batch": 16},
    ],
    ids=str,
)
def test_a_resumed_run_ends_in_the_same_bits(tmp_path, changes):
    scenario = SHORT.changed(steps=12, evaluate_every=4, **changes)
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=3)
    broken_off(scenario, checkpoint, 8)
    started = Starts()
    resumed = simulate(scenario, checkpoint=checkpoint, resume=True, callbacks=[started])
    assert started.step == 6
    assert resumed.digest() == simulate(scenario).digest()
    assert [record.step for record in resumed.steps] == list(range(1, 13))


def test_a_killed_run_ends_in_the_same_bits(tmp_path):
    path = tmp_path / "checkpoint.pt"
    command = [sys.executable, jobs.__file__, "slow", str(path), SHORT.to_json()]
    with subprocess.Popen(command) as process:
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    started = Starts()
    resumed = simulate(SHORT, checkpoint=Checkpoint(path), resume=True, callbacks=[started])
    assert 5 <= started.step < 30
    assert resumed.digest() == simulate(SHORT).digest()
    assert [name for name in os.listdir(tmp_path) if not name.endswith(".tmp")] == [path.name]


def test_resume_without_a_file_starts_at_the_beginning(tmp_path):
    scenario = SHORT.changed(steps=3)
    started = Starts()
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt")
    simulate(scenario, checkpoint=checkpoint, resume=True, callbacks=[started])
    assert started.step == 0


def test_without_resume_an_old_checkpoint_is_not_looked_at(tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=2)
    (tmp_path / "checkpoint.pt").write_bytes(b"not one")
    simulate(SHORT.changed(steps=2), checkpoint=checkpoint)
    assert checkpoint.load(SHORT.changed(steps=2)) is not None


def test_a_checkpoint_of_another_scenario_is_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=1)
    broken_off(SHORT, checkpoint, 2)
    with pytest.raises(CheckpointError, match=r"another scenario: lr = 0.75 there, 0.5 here$"):
        simulate(SHORT.changed(lr=0.5), checkpoint=checkpoint, resume=True)


def test_a_checkpoint_of_other_semantics_is_refused(tmp_path):
    path = tmp_path / "checkpoint.pt"
    record = json.dumps({**SHORT.record(), "semantics": "0"})
    path.write_bytes(sealed_bytes(saved({"record": record, "state": {}})))
    with pytest.raises(CheckpointError, match="semantics '0'"):
        Checkpoint(path).load(SHORT)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", None])
def test_a_damaged_checkpoint_is_refused(tmp_path, content):
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=1)
    broken_off(SHORT, checkpoint, 2)
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(path.read_bytes()[:2000] if content is None else content)
    with pytest.raises(CheckpointError, match=r"checkpoint.pt is no checkpoint, or is damaged"):
        checkpoint.load(SHORT)


class Trap:
    """Would run a command if it were unpickled."""

    def __reduce__(self):
        return os.mkdir, ("trapped",)


@pytest.mark.parametrize("save", [saved, pickle.dumps])
def test_nothing_but_tensors_and_plain_values_is_unpickled(tmp_path, monkeypatch, save):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoint.pt").write_bytes(sealed_bytes(save({"record": Trap()})))
    with pytest.raises(DamagedCheckpoint, match="is no checkpoint, or is damaged"):
        Checkpoint(tmp_path / "checkpoint.pt").load(SHORT)
    assert not (tmp_path / "trapped").exists()


def test_a_plain_archive_of_pytorch_is_no_checkpoint(tmp_path):
    (tmp_path / "checkpoint.pt").write_bytes(saved({"record": "{}", "state": {}}))
    with pytest.raises(DamagedCheckpoint, match="it has no checksum"):
        Checkpoint(tmp_path / "checkpoint.pt").load(SHORT)


def test_no_flipped_bit_of_a_checkpoint_passes(tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=1)
    broken_off(SHORT, checkpoint, 2)
    whole = (tmp_path / "checkpoint.pt").read_bytes()
    rng = random.Random(1)
    for _ in range(100):
        changed = bytearray(whole)
        changed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        (tmp_path / "checkpoint.pt").write_bytes(changed)
        with pytest.raises(DamagedCheckpoint):
            checkpoint.load(SHORT)


def test_a_run_that_cannot_save_itself_says_so(read_only_folder):
    with pytest.raises(WriteError, match="cannot write"):
        simulate(SHORT, checkpoint=Checkpoint(read_only_folder / "checkpoint.pt", every=1))


@pytest.mark.parametrize(
    ("every", "error"), [(0, ValueError), (-1, ValueError), (True, TypeError), (2.5, TypeError)]
)
def test_every_must_be_a_count(every, error):
    with pytest.raises(error, match=rf"every = {every}.*; allowed: an int >= 1"):
        Checkpoint("checkpoint.pt", every=every)


def test_a_checkpoint_can_be_taken_away(tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=1)
    simulate(SHORT.changed(steps=1), checkpoint=checkpoint)
    checkpoint.remove()
    checkpoint.remove()
    assert checkpoint.load(SHORT) is None
