"""The demonstration from start to end, in small."""

import json
import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
import typer
from rich.console import Console

from wola.cli.demo import command
from wola.cli.demo.command import demonstrate, watch_all
from wola.cli.demo.plan import Cell, Plan
from wola.cli.demo.pool import run_all
from wola.training import Scenario, simulate

# A shell that starts the tests in the background leaves them deaf to Ctrl-C.
MAIN = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from wola.cli import main; main()"
)

SMALL = Plan(strategies=("-", "WoLA"), attacks=("sf",), seeds=(1,), steps=12)


def console() -> Console:
    return Console(file=StringIO(), width=110)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("alone")
    screen = console()
    demonstrate(SMALL, folder, processes=1, console=screen)
    text: str = screen.file.getvalue()  # type: ignore[attr-defined]
    return folder, text


def test_a_demonstration_prints_tables_and_keeps_numbers_and_a_picture(alone):
    folder, text = alone

    assert {path.name for path in folder.iterdir()} == {"demo.json", "demo.png"}
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    for part in ("trimmed-mean", "multi-krum", "all rules", "keeps the most accuracy"):
        assert part in text
    assert "\x1b" not in text


def test_the_numbers_are_those_of_the_runs(alone):
    kept = json.loads((alone[0] / "demo.json").read_text())
    scenario = SMALL.scenario(Cell("WoLA", "multi-krum", "sf", 1))

    result = simulate(scenario)

    (run,) = [
        r
        for r in kept["runs"]
        if (r["cell"]["strategy"], r["cell"]["aggregator"][0]) == ("WoLA", "m")
    ]
    assert run["digest"] == result.digest()
    assert run["accuracy"] == result.accuracy
    assert run["steps"] == [10, 12]
    last = [record.dissimilarity_momenta for record in result.steps[10:]]
    assert run["dissimilarity"][1] == pytest.approx(sum(last) / 2)
    board = kept["boards"][1]
    assert board["rows"]["WoLA"]["sf"]["mean"] == pytest.approx(result.accuracy)


def test_two_processes_give_the_same_bytes_as_one(alone, tmp_path):
    demonstrate(SMALL, tmp_path, processes=2, console=console())

    assert (tmp_path / "demo.json").read_bytes() == (alone[0] / "demo.json").read_bytes()


def test_the_plan_is_the_papers_setting_in_small():
    scenario = Plan().scenario(Cell("WoLA+NNM", "trimmed-mean", "alie", 3))

    assert (scenario.workers, scenario.byzantine, scenario.alpha) == (17, 6, 0.3)
    assert (scenario.steps, scenario.seed, scenario.threads) == (150, 3, 1)
    assert len(set(Plan().cells())) == 120


def test_a_pipe_gets_lines_that_count_the_runs():
    screen = console()
    watch_all(SMALL, processes=1, console=screen)

    first, *lines = screen.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert first == "4 runs: 2 strategies x 2 rules x 1 attacks x 1 seeds"
    assert [line.split("  ")[0] for line in lines] == [f"run {k}/4" for k in range(1, 5)]


def test_an_interrupted_demonstration_says_so_and_writes_nothing(tmp_path, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run_all", interrupted)
    screen = console()
    with pytest.raises(typer.Exit) as caught:
        demonstrate(SMALL, tmp_path / "new", processes=1, console=screen)

    assert caught.value.exit_code == 130
    assert "interrupted" in screen.file.getvalue()  # type: ignore[attr-defined]
    assert not any((tmp_path / "new").iterdir())


class Deadly(Plan):
    """A plan whose runs kill the process they are in."""

    def scenario(self, cell: Cell) -> Scenario:
        os._exit(1)


def test_a_process_that_dies_is_told_instead_of_waited_for(tmp_path):
    with pytest.raises(ChildProcessError, match="was killed"):
        run_all(Deadly(), processes=2, on_done=lambda run: None)


def test_ctrl_c_ends_all_processes_of_a_demonstration(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "demo", "--processes", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "interrupted" in out
    assert "Traceback" not in err
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("some process of the demonstration is still there")
