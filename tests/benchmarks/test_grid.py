import argparse
import struct

import numpy as np
import pytest

from benchmarks import byzfl_grid, grid
from benchmarks.grid_page import page
from wola.bench.events import Begun, Done
from wola.data import load
from wola.training import Scenario

MADE = {
    "runs": 24,
    "slice": 20,
    "loop": {"seconds": 12.0, "working": 12.0, "cpu": 11.0},
    "grids": {
        1: {"seconds": 14.0, "working": 12.5, "cpu": 13.0},
        2: {"seconds": 9.0, "working": 6.0, "cpu": 16.0},
    },
    "store": 0.009,
    "scheduler": 0.002,
    "beside": {1: 10.0, 2: 5.0},
    "byzfl": {1: {"seconds": 100.0}, 2: {"error": "no data"}},
}


def test_the_page_compares_grids_with_the_plain_loop_and_with_byzfl():
    text = page({"date": "today"}, MADE, argparse.Namespace(steps=150, rounds=2, byzfl_steps=40))

    assert "| plain loop | 12.0 | 12.0 | 11.0 | 120 | 1.00 |" in text
    assert "| grid, 2 processes | 9.0 | 6.0 | 16.0 | 240 | 2.00 |" in text
    assert "Two processes do 2.08 times the work of one" in text
    assert "20 of these runs" in text
    assert "Together 1.1 % of a run of one second" in text
    assert "| 1 | 10.0 | 100.0 | 10.0 |" in text
    assert "| 2 | 5.0 | could not run: no data | - |" in text


def test_a_timeline_knows_the_work_and_the_gaps_between_runs():
    scenario = Scenario()
    timeline = grid.Timeline()
    for at, event in [
        (1.0, Begun("a", scenario)),
        (3.0, Done("a", scenario, 50.0, "finished", 2.0)),
        (3.5, Begun("b", scenario)),
        (5.0, Done("b", scenario, 50.0, "finished", 1.5)),
    ]:
        timeline.times.append((at, event))

    assert timeline.working() == 4.0
    assert timeline.gaps() == [0.5]


def test_the_store_adds_time_to_every_run():
    added = grid.store_overhead(grid.grid_slice(2)[:2])

    assert len(added) == 2
    assert min(added) > 0


def test_images_are_written_as_torchvision_reads_them(tmp_path):
    byzfl_grid.write_images(tmp_path, "digits")

    content = (tmp_path / "MNIST" / "raw" / "t10k-images-idx3-ubyte").read_bytes()
    assert struct.unpack(">4B3I", content[:16]) == (0, 0, 8, 3, 360, 8, 8)
    images = np.frombuffer(content[16:], np.uint8).reshape(360, 8, 8)
    assert np.array_equal(images, load("digits").x_test[:, 0].numpy())


def test_a_peer_that_cannot_run_says_why(monkeypatch):
    monkeypatch.setattr(grid.sys, "executable", "/bin/false")

    assert grid.byzfl(Scenario(), 1) == {"error": "no message"}


def test_the_slice_is_what_both_can_run():
    scenarios = grid.grid_slice(5)

    assert {scenario.mixing for scenario in scenarios} == set(byzfl_grid.MIXINGS)
    assert {scenario.attack for scenario in scenarios} == set(byzfl_grid.ATTACKS)
    assert {scenario.steps for scenario in scenarios} == {5}


@pytest.mark.parametrize("words", [[], ["--steps", "9"]])
def test_options_keep_the_command(words):
    assert grid.parse(words).command == " ".join(["python -m benchmarks.grid", *words])
