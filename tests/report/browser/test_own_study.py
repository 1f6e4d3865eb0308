"""A study of one's own, as docs/extend.md walks through it: from a module and data to the page."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.report.browser.conftest import Open
from tests.report.browser.test_link import seen

GUIDE = Path(__file__).parents[3] / "docs" / "extend.md"


def block(first_line: str) -> str:
    """The code block of the guide that begins with this line."""
    (found,) = re.findall(rf"```\w+\n({re.escape(first_line)}\n.*?)```", GUIDE.read_text(), re.S)
    return str(found)


def write_data(path: Path, shift: float = 0.0) -> None:
    """Three classes of which one is common and one is rare."""
    rng = np.random.default_rng(0)
    arrays = {}
    for part, sizes in (("train", (300, 120, 60)), ("test", (60, 30, 20))):
        labels = np.repeat([0, 1, 2], sizes)
        noise = rng.normal(size=(len(labels), 4)).astype(np.float32)
        arrays[f"x_{part}"] = noise + 2 * np.eye(4, dtype=np.float32)[labels] + np.float32(shift)
        arrays[f"y_{part}"] = labels
    np.savez(path, **arrays)


def width_in_inches(path: Path) -> float:
    """The width of the page of a PDF."""
    box = re.search(rb"/MediaBox \[ ?([\d. ]+)\]", path.read_bytes())
    assert box is not None
    left, _, right, _ = map(float, box[1].split())
    return round((right - left) / 72, 2)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "mine.py").write_text(block("# mine.py"))
    (folder / "grid.toml").write_text(block("# grid.toml"))
    write_data(folder / "mine.npz")
    return folder


def wola(study: Path, *words: str, code: int = 0) -> str:
    """What a command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "wola", *words],
        cwd=study,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_a_study_of_ones_own_goes_from_a_module_to_the_page(study: Path, look: Open) -> None:
    parts = ["--model", "mine:SmallNet(hidden=12)", "--loss", "mine:Adjusted"]
    parts += ["--aggregator", "mine:Nearby(reach=2)", "--attack", "mine:Turned"]
    sizes = ["--workers", "7", "--byzantine", "2", "--steps", "6", "--batch", "16"]
    trained = wola(study, "train", "--dataset", "npz(mine.npz)", *parts, *sizes)
    assert "mine:Turned against mine:Nearby(reach=2)" in trained
    assert "mean of 1 test over training" in trained

    assert "24 runs done, 0 were there, 0 failed" in wola(study, "bench", "grid.toml")
    assert "0 runs done, 24 were there" in wola(study, "bench", "grid.toml")

    reported = wola(study, "report", "--out", "report", "--style", "paper")
    assert re.search(r"(?m)^ Mine +\d", reported)
    assert re.search(r"(?m)^ WoLA +\d", reported)
    assert "Nearby" in reported
    pictures = sorted((study / "report" / "figures").glob("*.pdf"))
    assert pictures
    assert {width_in_inches(path) for path in pictures} == {3.3}

    matrix = wola(study, "report", "--tables", "matrix", "--form", "md")
    assert "mine:Turned" in matrix or "Turned" in matrix
    by_rule = wola(study, "report", "--rows", "aggregator", "--columns", "attack", "--form", "csv")
    assert "Nearby" in by_rule

    opened = look((study / "report" / "index.html").as_uri())
    opened.page.wait_for_selector("table")
    text = opened.page.inner_text("body")
    assert "Mine" in text
    assert "Nearby" in text
    opened.page.select_option("#axis-rows", "aggregator")
    opened.page.select_option("#axis-columns", "attack")
    other = look(opened.page.evaluate("location.href"))
    assert seen(other.page) == seen(opened.page)
    assert other.page.input_value("#axis-rows") == "aggregator"

    wola(study, "runs", "export", "runs.zip", "--metrics")
    assert "24 new runs, 0 were there, 0 damaged" in wola(
        study, "runs", "import", "runs.zip", "--store", "elsewhere"
    )
    tables = [wola(study, "report", name) for name in ("store", "elsewhere")]
    assert tables[0] == tables[1]

    served = subprocess.Popen(
        [sys.executable, "-m", "wola", "serve", "elsewhere", "--port", "0"],
        cwd=study,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert served.stdout is not None
        url = served.stdout.readline().split()[0]
        live = look(url)
        live.page.wait_for_selector("table")
        assert "Mine" in live.page.inner_text("body")
    finally:
        served.terminate()
        served.communicate(timeout=20)


def test_changed_data_make_new_runs(study: Path) -> None:
    one = ["--strategy", "Mine", "--attack", "foe", "--aggregator", "trimmed-mean"]
    wola(study, "bench", "grid.toml", *one)
    time.sleep(0.01)
    write_data(study / "mine.npz", shift=1.0)
    said = wola(study, "bench", "grid.toml", *one)
    assert "mine.npz is not what it was when 2 runs were made: they are kept" in said
    assert "2 runs done, 0 were there" in said
    assert "0 damaged runs" in wola(study, "runs", "gc")


def test_reading_the_store_needs_neither_the_module_nor_the_data(
    study: Path, tmp_path: Path
) -> None:
    wola(study, "bench", "grid.toml", "--strategy", "WoLA", "--seed", "1")
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "mine.py").write_text("raise SystemExit('a stranger's module was imported')\n")
    (study / "store").rename(alone / "store")
    try:
        assert "WoLA" in wola(alone, "report")
        assert "mine:Nearby" in wola(alone, "runs", "ls", "--json")
        wola(alone, "runs", "gc")
    finally:
        (alone / "store").rename(study / "store")
