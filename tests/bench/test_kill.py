"""kill -9 of everything in the middle of a grid, and the same command again, twice at once."""

import os
import re
import signal
import subprocess
import sys
from time import monotonic, sleep

from tests.bench.small import digests, plain_digests
from wola.bench.grid import Grid
from wola.bench.store import Store

GRID = """
[base]
dataset = "digits"
steps = 60
evaluate_every = 20

[axes]
strategy = ["-", "WoLA", "NNM"]
aggregator = ["median", "trimmed-mean", "geometric-median", "multi-krum"]
"""
COMMAND = [sys.executable, "-c", "from wola.cli import main; main()", "bench", "grid.toml"]


def started(folder, processes):
    """The command, with all its processes in a group of their own."""
    return subprocess.Popen(
        [*COMMAND, "--processes", str(processes)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def stamps(store):
    """When each run was written, and as which file."""
    files = {key: (store.folder(key) / "summary.json").stat() for key in list(store.keys())}
    return {key: (status.st_ino, status.st_mtime_ns) for key, status in files.items()}


def killed_in_the_middle(folder, store):
    """Starts the grid and kills every process of it while runs are under way."""
    command = started(folder, 2)
    end = monotonic() + 90
    while len(stamps(store)) < 3 or not store.running():
        assert monotonic() < end, "no run was finished in time"
        assert command.poll() is None, command.stdout.read()
        sleep(0.02)
    os.killpg(command.pid, signal.SIGKILL)
    command.communicate()


def test_a_killed_grid_goes_on_and_repeats_nothing_and_loses_nothing(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    scenarios = Grid.from_toml(tmp_path / "grid.toml").scenarios()
    store = Store.open(tmp_path / "store")

    killed_in_the_middle(tmp_path, store)
    before = stamps(store)
    commands = [started(tmp_path, 1), started(tmp_path, 1)]
    outputs = [command.communicate(timeout=120)[0] for command in commands]

    assert 3 <= len(before) < len(scenarios)
    assert [command.returncode for command in commands] == [0, 0], outputs
    assert before.items() <= stamps(store).items()
    done = [int(re.search(r"(\d+) runs done", output)[1]) for output in outputs]
    assert len(before) + sum(done) == len(scenarios) == len(stamps(store))
    assert digests(scenarios, store) == plain_digests(scenarios)
    assert store.running() == {}
