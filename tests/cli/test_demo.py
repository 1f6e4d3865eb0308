"""The demonstration from start to end, in small."""

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

from wola.bench.grid import Grid
from wola.bench.store import Store
from wola.cli.demo import GRID, demonstrate
from wola.cli.errors import Refused

# A shell that starts the tests in the background leaves them deaf to Ctrl-C.
MAIN = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from wola.cli import main; main()"
)

SMALL = Grid({**GRID.base, "steps": 12}, {**GRID.axes, "attack": ["alie", "sf"], "seed": [1]}).cut(
    strategy=["-", "WoLA"]
)


def console() -> Console:
    return Console(file=StringIO(), width=112)


def printed(screen: Console) -> str:
    text: str = screen.file.getvalue()  # type: ignore[attr-defined]
    return text


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder, screen = tmp_path_factory.mktemp("demo"), console()
    demonstrate(SMALL, folder, processes=1, console=screen)
    return folder, printed(screen)


def test_a_demonstration_prints_tables_and_where_picture_and_page_are(shown):
    folder, text = shown

    for part in ("CwTM", "MKrum", "all rules", "ALIE", "worst", "keeps the most accuracy"):
        assert part in text
    lines = text.replace("\n", "").replace(" ", "")
    assert f"page:{folder / 'report' / 'index.html'}" in lines
    assert (folder / "report" / "index.html").read_bytes().startswith(b"<!doctype html>")
    (picture,) = (folder / "figures").iterdir()
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "\x1b" not in text


def test_the_numbers_are_those_of_the_runs(shown):
    table = Store.open(shown[0] / "store", create=False).frame()
    rows = table.filter(strategy="WoLA", aggregator="multi-krum(power=1)")

    assert len(table) == 8
    (line,) = (
        t for t in shown[1].split("MKrum")[1].split("all rules")[0].splitlines() if "Wo" in t
    )
    alie, sf, mean, worst = (float(word.rstrip("¹²³")) for word in line.split()[1:])
    by_attack = dict(rows.select("attack", "accuracy").iter_rows())
    assert (alie, sf) == pytest.approx((by_attack["alie"], by_attack["sf"]), abs=0.05)
    assert mean == pytest.approx(sum(by_attack.values()) / 2, abs=0.05)
    assert worst == min(alie, sf)


def test_a_second_time_nothing_is_run_again(shown):
    screen = console()
    demonstrate(SMALL, shown[0], processes=1, console=screen)

    assert "12/12" not in printed(screen)
    assert printed(screen).split("CwTM", 1)[1] == shown[1].split("CwTM", 1)[1]


def test_the_grid_is_the_papers_setting_in_small():
    scenarios = GRID.scenarios()

    assert len(set(scenarios)) == 120
    assert {(s.workers, s.byzantine, s.alpha, s.steps) for s in scenarios} == {(17, 6, 0.3, 150)}


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "letter.txt").write_text("dear")

    with pytest.raises(Refused, match="holds other files"):
        demonstrate(SMALL, tmp_path, processes=1, console=console())


def test_a_run_that_fails_ends_the_demonstration_with_code_1(tmp_path):
    impossible = Grid({**SMALL.base, "model": "tests.bench.faulty:tells_surroundings"}, SMALL.axes)

    with pytest.raises(typer.Exit) as caught:
        demonstrate(impossible, tmp_path, processes=1, console=console())

    assert caught.value.exit_code == 1
    assert not (tmp_path / "report").exists()


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
    assert "interrupted; the same command goes on" in out
    assert "Traceback" not in err
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("some process of the demonstration is still there")
