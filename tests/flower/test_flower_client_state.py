"""What a client remembers, and what it does not."""

import json
import logging
import os
import stat
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from wola.flower.client_state import KEPT_RUNS, MomentumMemory, noisy_report
from wola.ground import WriteError
from wola.labels import GaussianMechanism, LaplaceMechanism


def memory(folder, run="0" * 32, federation="lab", worker=4):
    return MomentumMemory(Path(folder), federation=federation, run=run, worker=worker)


def vector(value, size=3):
    return torch.full((size,), float(value))


def test_there_is_nothing_to_remember_at_first(tmp_path):
    assert memory(tmp_path).before(1, 3).tolist() == [0.0] * 3


def test_the_last_two_rounds_are_kept(tmp_path):
    for step in (1, 2, 5):
        memory(tmp_path).keep(step, vector(step))
    assert [memory(tmp_path).before(step, 3)[0].item() for step in (3, 5, 6, 9)] == [2, 2, 5, 5]
    assert set(load_file(memory(tmp_path).path)) == {"2", "5"}


def test_a_round_that_is_asked_again_replaces_itself_and_what_came_after(tmp_path):
    for step, value in ((1, 1), (2, 2), (3, 3), (3, 30)):
        memory(tmp_path).keep(step, vector(value))
    assert set(load_file(memory(tmp_path).path)) == {"2", "3"}
    assert memory(tmp_path).before(4, 3)[0] == 30
    memory(tmp_path).keep(2, vector(20))
    assert set(load_file(memory(tmp_path).path)) == {"2"}


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
    path = memory(tmp_path, federation="../../..", run="../../x").path
    assert path.resolve().is_relative_to(tmp_path.resolve())


@pytest.mark.parametrize("damage", ["empty", "cut", "noise", "other-names", "matrix"])
def test_a_damaged_file_is_said_and_counts_as_none(tmp_path, caplog, damage):
    kept = memory(tmp_path)
    kept.keep(1, vector(1))
    content = kept.path.read_bytes()
    if damage == "other-names":
        save_file({"momentum": vector(1)}, kept.path)
    elif damage == "matrix":
        save_file({"1": torch.zeros(2, 2)}, kept.path)
    else:
        kept.path.write_bytes({"empty": b"", "cut": content[:-3], "noise": b"x" * 90}[damage])
    with caplog.at_level(logging.WARNING):
        assert kept.before(2, 3).tolist() == [0.0] * 3
    assert "cannot be used" in caplog.text
    kept.keep(2, vector(2))
    assert kept.before(3, 3)[0] == 2


def test_a_momentum_of_another_size_is_none(tmp_path):
    memory(tmp_path).keep(1, vector(1, size=5))
    assert memory(tmp_path).before(2, 3).tolist() == [0.0] * 3


def test_old_runs_are_forgotten(tmp_path):
    runs = [f"{i:032x}" for i in range(KEPT_RUNS + 2)]
    for age, run in enumerate(runs):
        kept = memory(tmp_path, run)
        kept.keep(1, vector(age))
        os.utime(kept.path, (age, age))
    memory(tmp_path, runs[-1]).keep(2, vector(9))
    left = [run for run in runs if memory(tmp_path, run).path.exists()]
    assert left == runs[-KEPT_RUNS:]


def test_a_folder_that_cannot_be_written_is_an_error_that_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises((WriteError, OSError)):
        memory(tmp_path / "file").keep(1, vector(1))


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_the_folder_is_its_owners_alone(tmp_path):
    memory(tmp_path / "state").keep(1, vector(1))
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


# So many that the noise leaves a report inside the simplex, where no two draws are alike.
COUNTS = torch.tensor([3000, 9000, 4000])


def test_a_noisy_report_is_drawn_once(tmp_path):
    noise = LaplaceMechanism(0.5)
    made = [noisy_report(tmp_path, 1, COUNTS, noise).tolist() for _ in range(3)]
    assert made[0] == made[1] == made[2]
    assert sum(made[0]) == pytest.approx(1)
    assert made[0] != [0.1875, 0.5625, 0.25]


@pytest.mark.parametrize(
    ("worker", "counts", "noise"),
    [
        (2, COUNTS, LaplaceMechanism(0.5)),
        (1, torch.tensor([3000, 8999, 4001]), LaplaceMechanism(0.5)),
        (1, COUNTS, LaplaceMechanism(0.6)),
        (1, COUNTS, GaussianMechanism(0.5, 1e-5)),
    ],
)
def test_other_workers_data_or_mechanisms_get_a_draw_of_their_own(tmp_path, worker, counts, noise):
    first = noisy_report(tmp_path, 1, COUNTS, LaplaceMechanism(0.5))
    assert not torch.equal(first, noisy_report(tmp_path, worker, counts, noise))
    assert len(list((tmp_path / "reports").iterdir())) == 2


@pytest.mark.parametrize("damage", ["", "[0.5]", "[1, 2, 3]", '{"a": 1}', '["x", 1, 2]'])
def test_a_damaged_report_is_said_and_drawn_anew(tmp_path, caplog, damage):
    noisy_report(tmp_path, 1, COUNTS, LaplaceMechanism(0.5))
    (path,) = (tmp_path / "reports").iterdir()
    path.write_text(damage)
    with caplog.at_level(logging.WARNING):
        made = noisy_report(tmp_path, 1, COUNTS, LaplaceMechanism(0.5))
    assert "a new one is drawn" in caplog.text
    assert json.loads(path.read_text()) == made.tolist()
