"""The evidence goes on where it was stopped, on any machine."""

from pathlib import Path

import pytest

from benchmarks import evidence
from wola.bench.grid import Grid
from wola.bench.presets import accuracy
from wola.bench.store import Store

COLUMN = """
[base]
dataset = "iris"
steps = 2
batch = 8
byzantine = 2
attack = "sf"

[axes]
strategy = ["-", "WoLA"]
seed = [{seed}]
"""


@pytest.fixture(autouse=True)
def as_urgent_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "step_back", lambda: None)


def column(folder: Path, name: str, seed: int) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(COLUMN.format(seed=seed))
    return path


def run(columns: Path, store: Path) -> int:
    return evidence.main(["--columns", str(columns), "--store", str(store)])


def test_a_fresh_clone_goes_on_from_the_exports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = tmp_path / "columns"
    column(columns, "1-first", 1)
    assert run(columns, tmp_path / "here") == 0
    column(columns, "2-second", 2)
    capsys.readouterr()
    assert run(columns, tmp_path / "elsewhere") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "1-first.zip: 2 new, 0 were there"
    assert said[1:3] == [
        "1-first.toml: 2 of 2 runs are there",
        "2-second.toml: 0 of 2 runs are there",
    ]
    assert said[3].startswith("  1 of 2,")
    assert said[4].startswith("  2 of 2,")
    assert len(list(Store.open(tmp_path / "elsewhere").keys())) == 4
    assert sorted(path.name for path in columns.glob("*.zip")) == ["1-first.zip", "2-second.zip"]


def test_what_was_done_before_it_was_stopped_is_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = column(tmp_path / "columns", "1-first", 1)
    whole = evidence.run_grid

    def stopped(scenarios, *given, **named):  # type: ignore[no-untyped-def]
        whole(scenarios[:1], *given, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(evidence, "run_grid", stopped)
    assert run(path.parent, tmp_path / "here") == 0
    monkeypatch.undo()
    monkeypatch.setattr(evidence, "step_back", lambda: None)
    assert "goes on" in capsys.readouterr().out
    run(path.parent, tmp_path / "elsewhere")
    assert "1-first.zip: 1 new" in capsys.readouterr().out


def test_the_columns_are_those_of_the_paper() -> None:
    paths = evidence.grids(evidence.COLUMNS)
    assert len(paths) >= 7
    paper = {scenario.key() for scenario in accuracy().scenarios()}
    for path in paths:
        scenarios = Grid.from_toml(path).scenarios()
        assert len(scenarios) == 160
        assert {scenario.key() for scenario in scenarios} <= paper


def test_a_report_tells_how_far_each_column_is(tmp_path: Path) -> None:
    columns = tmp_path / "columns"
    column(columns, "1-first", 1)
    run(columns, tmp_path / "runs" / "store")
    column(columns, "2-second", 2)
    arguments = ["--columns", str(columns), "--store", str(tmp_path / "runs" / "store"), "--report"]
    assert evidence.main(arguments) == 0
    told = (columns / "README.md").read_text()
    assert "| 1-first | 2 | 2 |" in told
    assert "| 2-second | 0 | 2 |" in told
    assert "iris: accuracy in %" in told
    assert (tmp_path / "runs" / "report" / "index.html").is_file()
