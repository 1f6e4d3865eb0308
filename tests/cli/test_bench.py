"""`wola bench`, inside this process, and as the user starts and stops it."""

import os
import re
import resource
import signal
import subprocess
import sys
from time import monotonic, sleep

import pytest

from tests.bench.small import Here, digests, iris, plain_digests, run_here
from wola.bench.claims import Owner
from wola.bench.grid import Grid
from wola.bench.store import Store
from wola.cli import bench as command
from wola.ground.sealed import sealed

# A shell that starts the tests in the background leaves them deaf to Ctrl-C.
MAIN = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from wola.cli import main; main()"
)

GRID = """
[base]
dataset = "iris"
steps = 6
evaluate_every = 3
batch = 8
byzantine = 8

[axes]
strategy = ["-", "BKT", "NNM"]
seed = [1, 2]
"""


@pytest.fixture
def grid(tmp_path):
    """A grid of 6 scenarios and 4 runs."""
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


@pytest.fixture
def here(monkeypatch):
    """Runs are done inside this process."""
    monkeypatch.setattr(command, "executor_of", lambda flags, grid, scenarios: Here())


def test_a_grid_is_run_told_line_by_line_and_reported(wola, here, grid, tmp_path):
    result = wola("bench", grid)

    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["1/4", "2/4", "3/4", "4/4"]
    assert "4 runs done, 0 were there, 0 failed; store: store" in lines
    assert "2 scenarios share the run of another:" in lines
    assert "  buckets of one worker are no mixing (2)" in lines
    scenarios = Grid.from_toml(grid).scenarios()
    assert digests(scenarios, Store.open(tmp_path / "store")) == plain_digests(scenarios)


def test_the_same_command_finds_everything_done(wola, here, grid):
    wola("bench", grid)

    assert "0 runs done, 4 were there, 0 failed" in wola("bench", grid).stdout


def test_any_axis_can_be_cut_and_any_other_field_set(wola, here, grid, tmp_path):
    result = wola(
        "bench", grid, "--strategy", "nnm", "--strategy", "-", "--seed", 2, "--attack", "foe"
    )

    assert "2 runs done" in result.stdout
    frame = Store.open(tmp_path / "store").frame()
    assert set(frame["strategy"]) == {"-", "NNM"}
    assert set(frame["seed"]) == {2}
    assert set(frame["attack"]) == {"foe"}


def test_a_failed_run_is_listed_and_gives_exit_code_one(wola, here, grid):
    result = wola("bench", grid, "--model", "tests.bench.faulty:tells_surroundings", "--seed", 1)

    assert result.exit_code == 1
    assert "0 runs done, 0 were there, 2 failed" in result.stdout
    assert result.stdout.count("classes: CUDA_VISIBLE_DEVICES") >= 2


def test_a_plan_runs_nothing_and_writes_nothing(wola, grid, tmp_path):
    result = wola("bench", grid, "--plan", "--processes", 2)

    assert result.exit_code == 0
    assert "6 scenarios, 4 runs (2 scenarios share the run of another)" in result.stdout
    assert "0 done, 4 left" in result.stdout
    assert re.search(r"about 0:00:\d\d with 2 at once; this is an estimate", result.stdout)
    assert not (tmp_path / "store").exists()


def test_a_plan_knows_what_is_done_and_what_failed(wola, here, grid, tmp_path):
    wola("bench", grid, "--seed", 1)
    store = Store.open(tmp_path / "store")
    left = Grid.from_toml(grid).scenarios()[1]
    store.fail(store.key(left), left, "no")

    assert "2 done, 2 left, of which 1 failed before" in wola("bench", grid, "--plan").stdout


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("quik",), ["grid = 'quik'", "did you mean 'quick'?"]),
        (("nowhere.toml",), ["nowhere.toml cannot be read as a grid"]),
        (("quick", "--attack", "ailie"), ["attack = 'ailie'", "did you mean 'alie'?"]),
        (("quick", "--attack", "zero"), ["attack = 'zero' is not on the axis"]),
        (("quick", "--steps", "9", "--steps", "10"), ["--steps is given 2 times", "strategy"]),
        (("quick", "--steps", "none"), ["steps", "none"]),
        (("quick", "--device", "cuda"), ["--device = 'cuda'", "allowed here: cpu"]),
        (("quick", "--ray", "auto", "--slurm"), ["--ray and --slurm"]),
        (("quick", "--slurm", "--tensorboard", "t"), ["--tensorboard with --ray or --slurm"]),
        ((), ["no grid is named", "paper/accuracy"]),
        (("--watch",), ["store is no store"]),
    ],
)
def test_bad_input_is_one_message_and_exit_code_two(wola, words, parts, tmp_path):
    result = wola("bench", *words)

    assert result.exit_code == 2
    for part in parts:
        assert part in result.stderr
    assert not (tmp_path / "store").exists()


def test_a_store_of_another_version_is_refused(wola, here, grid, tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "store.json").write_bytes(sealed({"store": 0}))

    result = wola("bench", grid)

    assert result.exit_code == 2
    assert "store was laid out by another version of wola" in result.stderr


OWN = """
import torch
from wola import Mean

class Halved(Mean):
    def weigh(self, space, f):
        return super().weigh(space, f) / 2
"""


def test_strategies_and_parts_of_a_grids_own_are_run_and_named(wola, tmp_path):
    (tmp_path / "own_halved.py").write_text(OWN)
    (tmp_path / "own.toml").write_text(
        GRID.split("[axes]")[0].replace("byzantine = 8", "byzantine = 2")
        + '[strategies."Mine"]\nloss = "wola"\nmixing = "arc + nnm"\n'
        + '[axes]\naggregator = ["own_halved:Halved", "median"]\n'
    )

    result = wola("bench", "own.toml", "--processes", 1)

    assert result.exit_code == 0, result.output
    frame = Store.open(tmp_path / "store").frame()
    assert set(frame["strategy"]) == {"Mine"}
    assert set(frame["aggregator"]) == {"own_halved:Halved", "median"}
    again = (tmp_path / "own.toml").read_text().replace("arc + nnm", "arc")
    (tmp_path / "own.toml").write_text(again)
    refused = wola("bench", "own.toml")
    assert refused.exit_code == 2
    assert "strategy 'Mine' stands for" in refused.stderr


def test_a_grid_whose_own_part_fails_is_one_message(wola, tmp_path):
    (tmp_path / "own_broken.py").write_text("1 / 0\n")
    (tmp_path / "own.toml").write_text('[axes]\naggregator = ["own_broken:Rule"]\n')

    result = wola("bench", "own.toml")

    assert result.exit_code == 2
    assert "own_broken.py, line 1: ZeroDivisionError" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "store").exists()


def test_the_figure_on_iris_is_written(wola):
    result = wola("bench", "paper/iris", "--store", "figure")

    assert result.exit_code == 0
    assert result.stdout.startswith("written: figure")


def test_watching_a_finished_grid_says_so(wola, here, grid):
    wola("bench", grid)

    for words in (("--watch",), ("store", "--watch"), (grid, "--watch")):
        result = wola("bench", *words)
        assert result.exit_code == 0
        assert "4 of 4 runs are there or failed" in result.stdout


def test_watching_where_nothing_was_run_is_refused(wola, tmp_path):
    Store.open(tmp_path / "store")

    result = wola("bench", "--watch")

    assert result.exit_code == 2
    assert "no grid has been run in store" in result.stderr


def test_watching_shows_what_others_do(wola, here, grid, monkeypatch):
    wola("bench", grid, "--seed", 1)
    monkeypatch.setattr("wola.bench.watch.IDLE", 0.0)
    monkeypatch.setattr(command, "watch", lambda store, keys, display: False)

    result = wola("bench", grid, "--watch")

    assert result.exit_code == 1
    assert "nobody is at work on the rest" in result.stdout


def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


def started(folder, *words, **more):
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, "bench", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **more,
    )


def ended_soon(group):
    """Whether no process of the group is left after a moment, as multiprocessing's own needs."""
    end = monotonic() + 10
    while monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        sleep(0.05)
    return False


def test_a_full_disk_stops_the_grid_cleanly_and_later_it_goes_on(grid, tmp_path):
    words = ("grid.toml", "--processes", "1", "--strategy", "-")
    full = started(tmp_path, *words, preexec_fn=limited)
    _, said = full.communicate(timeout=120)
    store = Store.open(tmp_path / "store")

    assert full.returncode == 1
    assert "cannot write (File too large)" in said
    assert "Traceback" not in said
    assert list(store.keys()) == []
    assert store.running() == {}
    assert store.failed() == []
    assert len(run_here(Grid.from_toml(grid).cut(strategy="-").scenarios(), store).done) == 2


def test_ctrl_c_stops_all_processes_and_the_claims_are_free(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID.replace("steps = 6", "steps = 100000"))
    running = started(tmp_path, "grid.toml", "--processes", "1")
    store, end = Store.open(tmp_path / "store"), monotonic() + 60
    while not store.running():
        assert monotonic() < end
        assert running.poll() is None, running.stderr.read()
        sleep(0.05)

    os.killpg(running.pid, signal.SIGINT)
    told, said = running.communicate(timeout=60)

    assert running.returncode == 130
    assert "interrupted; the same command goes on" in told
    assert said == ""
    assert store.running() == {}
    assert store.claim(store.key(iris()), Owner.here()) is not None
    assert ended_soon(running.pid)
