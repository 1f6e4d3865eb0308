import gzip
import json
import re
from base64 import b64decode
from pathlib import Path

import pytest

from tests.report.browser.store import HARM, fill, keep, keep_harm, metrics, scenarios
from wola.bench import representative
from wola.bench.store import Store
from wola.report import read_runs
from wola.report.page import write, write_page
from wola.report.page.rows import FIELDS
from wola.training import Scenario


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return fill(Store.open(tmp_path_factory.mktemp("page") / "store"), scenarios())


def data_of(page: Path, name: str = "data") -> dict[str, object]:
    found = re.search(rf'id="{name}">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found
    made: dict[str, object] = json.loads(found[1])
    return made


def rows_of(page: Path) -> list[dict[str, object]]:
    rows = data_of(page)["rows"]
    assert isinstance(rows, list)
    return [dict(zip(FIELDS, row, strict=True)) for row in rows]


def test_the_page_has_every_run_with_its_curves_and_command(store: Store, tmp_path: Path) -> None:
    runs = read_runs(store)
    page = write_page(runs, tmp_path / "report")
    assert page == tmp_path / "report" / "index.html"
    assert sorted(p.name for p in page.parent.iterdir()) == ["index.html"]
    rows, details = rows_of(page), data_of(page, "details")
    keys = {str(row["key"]) for row in rows}
    assert keys == set(details) == {key[:16] for key in runs.table["key"]}
    assert sorted(float(str(row["accuracy"])) for row in rows) == pytest.approx(
        sorted(runs.table["accuracy"])
    )
    assert all({"command", "accuracy", "dissimilarity"} <= set(d) for d in details.values())


def test_many_runs_have_their_curves_in_files_of_their_own(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = read_runs(store)
    inside = data_of(write_page(runs, tmp_path / "one"), "details")
    monkeypatch.setattr(write, "MOST_RUNS", 10)
    page = write_page(runs, tmp_path / "split")
    assert data_of(page, "details") == {}
    numbers, rows = data_of(page)["files"], rows_of(page)
    assert isinstance(numbers, list)
    found = {}
    for part in set(numbers):
        text = (page.parent / "curves" / f"{part:05d}.js").read_text(encoding="utf-8")
        packed = text.removeprefix(f'wolaCurves({part},"').removesuffix('");\n')
        kept = json.loads(gzip.decompress(b64decode(packed)))
        assert set(kept) == {r["key"] for r, p in zip(rows, numbers, strict=True) if p == part}
        found |= kept
    assert found == inside


def test_a_smaller_page_leaves_no_files_of_a_larger_one(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "MOST_RUNS", 3)
    write_page(read_runs(store), tmp_path)
    own = tmp_path / "curves" / "mine.js"
    own.write_text("kept")
    write_page(read_runs(store).where(byzantine=[2]), tmp_path)
    assert len(list((tmp_path / "curves").iterdir())) == 4 + 1
    monkeypatch.setattr(write, "MOST_RUNS", 500)
    write_page(read_runs(store), tmp_path)
    assert list((tmp_path / "curves").iterdir()) == [own]


def test_curves_of_very_many_workers_are_split_as_well(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "MOST_CHARACTERS", 5000)
    write_page(read_runs(store), tmp_path)
    assert len(list((tmp_path / "curves").iterdir())) == 8


def test_five_hundred_long_runs_are_under_six_megabytes(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    made = metrics(Scenario.paper("iris", aggregator="multi-krum"), steps=800)
    for seed in range(500):
        keep(store, Scenario.paper("iris", aggregator="multi-krum", strategy="-", seed=seed), made)
    page = write_page(read_runs(store), tmp_path / "report")
    assert not (page.parent / "curves").exists()
    assert page.stat().st_size < 6_000_000


def test_failed_runs_are_rows_without_numbers(tmp_path: Path) -> None:
    store = fill(Store.open(tmp_path / "store"), scenarios()[:3])
    failed = scenarios()[3]
    store.fail(store.key(failed), failed, "no memory")
    page = write_page(read_runs(store), tmp_path / "report")
    (row,) = [row for row in rows_of(page) if row["ending"] == "failed"]
    assert row["accuracy"] is None
    details = data_of(page, "details")[str(row["key"])]
    assert set(details) == {"command", "reason"}  # type: ignore[call-overload]
    assert details["reason"] == "no memory"  # type: ignore[index]


def test_a_scenario_that_another_run_answers_says_so(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    plain, same = (Scenario.paper("iris", strategy=s, byzantine=6) for s in ("-", "BKT"))
    store.note_coincidences([(same, representative(same))])
    keep(store, plain)
    page = write_page(read_runs(store), tmp_path / "report")
    details = data_of(page, "details")
    assert details[same.key()[:16]]["answered"] == plain.key()[:16]  # type: ignore[index]
    assert "answered" not in details[plain.key()[:16]]  # type: ignore[operator]


def test_texts_of_runs_stay_texts(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    keep_harm(store)
    page = write_page(read_runs(store), tmp_path / "report")
    assert HARM not in page.read_text(encoding="utf-8")
    assert rows_of(page)[0]["ending"] == HARM


def test_a_store_without_runs_has_a_page(tmp_path: Path) -> None:
    page = write_page(read_runs(Store.open(tmp_path / "store")), tmp_path / "report")
    assert rows_of(page) == []


def test_fields_that_are_not_the_usual_ones_are_told(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    keep(store, Scenario.paper("iris", strategy="-"))
    keep(store, Scenario.paper("iris", strategy="NNM", batch=16))
    page = write_page(read_runs(store), tmp_path / "report")
    told = sorted((row["more"] for row in rows_of(page)), key=str)
    assert told == [{"batch": 16, "mixing": "nnm"}, {}]
    usual = data_of(page)["usual"]
    assert usual["iris"]["mixing"] == "none"  # type: ignore[index]
