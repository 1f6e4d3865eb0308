"""A noisy report is drawn once for a worker and its data, whatever happens."""

import json
import logging
import subprocess
import sys

import pytest
import torch

from wola.flower.noisy_report import noisy_report
from wola.ground.sealed import sealed
from wola.labels import GaussianMechanism, LaplaceMechanism

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


GOOD = sealed({"distribution": [0.25, 0.5, 0.25]})


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"null",
        b"[]",
        b"[0.25, 0.5, 0.25]",
        b"[" * 100_000,
        GOOD[:-5],
        GOOD.replace(b"0.5", b"0.4"),
        bytes(len(GOOD)),
        sealed({}),
        sealed({"distribution": None}),
        sealed({"distribution": [0.5]}),
        sealed({"distribution": [1, 2, 3]}),
        sealed({"distribution": ["x", 1, 2]}),
    ],
    ids=lambda damage: repr(damage[:30]),
)
def test_a_damaged_report_is_said_and_replaced_by_one_other(tmp_path, caplog, damage):
    noisy_report(tmp_path, 1, COUNTS, LaplaceMechanism(0.5))
    (path,) = (tmp_path / "reports").iterdir()
    path.write_bytes(damage)
    with caplog.at_level(logging.WARNING):
        made = [noisy_report(tmp_path, 1, COUNTS, LaplaceMechanism(0.5)) for _ in range(3)]
    assert "is damaged and not used" in caplog.text
    assert torch.equal(made[0], made[1])
    assert torch.equal(made[0], made[2])
    assert path.read_bytes() == damage
    assert len(list((tmp_path / "reports").iterdir())) == 2


PROCESS = """
import sys, time
from pathlib import Path
import torch
from wola.flower.noisy_report import noisy_report
from wola.labels import LaplaceMechanism
folder, counts = Path(sys.argv[1]), torch.tensor([3000, 9000, 4000])
print("ready", flush=True)
sys.stdin.readline()
for worker in range(30):
    print(noisy_report(folder, worker, counts, LaplaceMechanism(0.5)).tolist(), flush=True)
"""


def test_two_processes_at_once_give_the_same_report(tmp_path):
    command = [sys.executable, "-c", PROCESS, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    first, second = (process.communicate(timeout=60)[0].splitlines() for process in processes)
    assert first == second
    assert len(first) == len(set(first)) == 30
    assert len(list((tmp_path / "reports").iterdir())) == 30


def test_a_process_that_draws_at_the_same_time_and_is_later_gives_what_the_first_kept(tmp_path):
    class Interrupted(LaplaceMechanism):
        """Another process keeps its report while this one draws."""

        def __call__(self, distribution, count):
            if not kept:
                kept.append(None)
                kept.append(noisy_report(tmp_path, 1, COUNTS, self))
            return super().__call__(distribution, count)

    kept = []
    made = noisy_report(tmp_path, 1, COUNTS, Interrupted(0.5))
    assert torch.equal(made, kept[1])


def test_a_report_is_kept_with_its_checksum(tmp_path):
    made = noisy_report(tmp_path, 1, COUNTS, LaplaceMechanism(0.5))
    (path,) = (tmp_path / "reports").iterdir()
    content = json.loads(path.read_bytes())
    assert content["distribution"] == made.tolist()
    assert set(content) == {"distribution", "sha256"}
