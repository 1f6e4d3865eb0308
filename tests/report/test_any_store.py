"""Any store can be reported on: own data, parts and strategies, of whoever made it."""

import sys
from pathlib import Path

import polars as pl
import pytest

from tests.report.made_up import STRANGE, parquet, put, put_record, record_of
from wola.bench.store import Store
from wola.ground.sealed import sealed
from wola.report import Runs, read_runs
from wola.report.figures import draw_all
from wola.report.forms import TABLE_FORMS
from wola.report.page import write_page
from wola.report.paper_tables import make_tables
from wola.report.scores import gains, scores
from wola.training import STRATEGIES, Scenario
from wola.training.scenario import record_key

AXES = {"alpha": 0.3, "byzantine": 6, "attack": "alie"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")


def metrics(record: dict[str, object]) -> bytes:
    return parquet(
        pl.DataFrame(
            {
                "key": record_key(record),
                "step": [1, 2],
                "accuracy": [40.0, 60.0],
                "dissimilarity_momenta": [1.0, 2.0],
                "weights": [[1 / 17] * 17] * 2,
            },
            schema_overrides={"weights": pl.List(pl.Float32)},
        )
    )


def test_nothing_that_a_store_names_is_imported_or_opened(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trap_of_a_stranger.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    trap = "trap_of_a_stranger:Trap(k=3)"
    fields = {**STRANGE, **AXES, "loss": trap, "aggregator": trap, "model": trap, "mixing": trap}
    more = {"counts": [[1, 2]] * 17, "class_accuracies": [40.0, 60.0]}
    for rule in (trap, "krum"):
        record = record_of(**{**fields, "aggregator": rule})
        put_record(store, record, metrics(record), **more)
    store.note_strategies({"Mine": {"mixing": trap, "loss": trap}})
    runs = read_runs(store)
    assert set(runs.table["strategy"]) == {"Mine"}
    tables = make_tables(runs)
    assert all(form(table) for table in tables for form in TABLE_FORMS.values())
    drawn = draw_all(runs, tmp_path / "figures", ("png",))
    assert any("training" in path.name for path in drawn.files)
    text = write_page(runs, tmp_path / "page").read_text(encoding="utf-8")
    assert "--aggregator 'trap_of_a_stranger:Trap(k=3)'" in text
    assert "trap_of_a_stranger" not in sys.modules


def test_own_parts_and_data_have_short_names_and_the_papers_come_first(store: Store) -> None:
    for rule in ("no.where:NearestHalf(k=3)", "multi-krum(power=1)", "median"):
        put_record(store, record_of(**{**STRANGE, **AXES, "aggregator": rule}))
    (table,) = make_tables(read_runs(store), ["full"])
    assert table.title.startswith("mine.npz: accuracy in %, alpha = 0.3")
    assert [over for over, _ in table.columns] == ["CWMed", "MKrum", "NearestHalf"]
    assert list(table.blocks[0].rows) == ["Loss"]


def test_variants_of_one_rule_that_meet_are_told_apart(store: Store) -> None:
    for rule in ("multi-krum(power=1)", "multi-krum"):
        put(store, Scenario.paper("iris", aggregator=rule))
    (table,) = make_tables(read_runs(store), ["full"])
    assert [over for over, _ in table.columns] == ["MKrum", "MKrum(power=1)"]


HALF = {**STRATEGIES["NNM"], "aggregator": "mda"}
MINE = {"loss": "wola", "objective": "uniform", "objective_attack": "none", "mixing": "arc"}


def own_strategies(store: Store) -> Runs:
    """Two strategies of the paper, and two of one's own that set a rate, steps and a rule."""
    mine = {"Slow": {**MINE, "lr": 0.1, "steps": 9}, "Half": HALF}
    store.note_strategies(mine)
    for seed in (1, 2):
        for attack in ("alie", "sf"):
            for rule in ("median", "krum"):
                same = {"attack": attack, "seed": seed, "aggregator": rule}
                put(store, Scenario.paper("iris", strategy="-", **same), accuracy=50.0)
                put(store, Scenario.paper("iris", strategy="WoLA", **same), accuracy=60.0)
                put(store, Scenario.paper("iris", **mine["Slow"], **same), accuracy=70.0)
            fixed = {**mine["Half"], "attack": attack, "seed": seed}
            put(store, Scenario.paper("iris", **fixed), accuracy=55.0)
    return read_runs(store)


def test_strategies_of_ones_own_are_rows_beside_the_papers(store: Store) -> None:
    (table,) = make_tables(own_strategies(store), ["accuracy"])
    rows = {name: row[0].text for name, row in table.blocks[0].rows.items()}
    assert rows == {
        "-": "50.0 (0.0)",
        "WoLA": "60.0 (0.0)",
        "Half": "55.0 (0.0)",
        "Slow": "70.0 (0.0)",
    }
    assert any(note.startswith("Half: ") and "aggregator mda" in note for note in table.notes)


def test_wola_is_told_by_the_loss_and_not_by_the_name(store: Store) -> None:
    found = gains(scores(own_strategies(store)))
    assert found.select("strategy", "gain", "over").rows() == [
        ("WoLA", 5.0, "Half"),
        ("Slow", 15.0, "Half"),
    ]


def test_one_name_for_two_strategies_is_told_apart(store: Store, tmp_path: Path) -> None:
    other = Store.open(tmp_path / "other")
    for place, rate in ((store, 0.1), (other, 0.2)):
        place.note_strategies({"Slow": {**MINE, "lr": rate}})
        put(place, Scenario.paper("iris", **MINE, lr=rate))
    runs = read_runs(store, other)
    assert sorted(runs.table["strategy"]) == ["Slow", "Slow (2)"]
    assert "is called 'Slow (2)'" in runs.notes[0]
    assert set(read_runs(other).table["strategy"]) == {"Slow"}


def test_runs_of_other_semantics_are_counted_and_left_out(store: Store) -> None:
    put(store, Scenario.paper("iris"))
    for seed in (1, 2):
        put_record(store, {**record_of(dataset="iris", seed=seed), "semantics": "0"})
    runs = read_runs(store)
    assert len(runs.table) == 1
    assert runs.notes == ("2 runs of semantics '0' are kept and left out",)


def contents(store: Store, *versions: str) -> None:
    for seed, version in enumerate(versions):
        content = {"/nowhere/mine.npz": version * 64}
        put_record(store, record_of(content, **{**STRANGE, **AXES}, seed=seed), accuracy=50.0)


def test_one_content_is_not_spoken_of(store: Store) -> None:
    contents(store, "a", "a")
    assert set(read_runs(store).table["setting"]) == {""}


def test_two_contents_of_one_file_never_meet_in_a_mean(store: Store) -> None:
    contents(store, "a", "a", "b")
    runs = read_runs(store)
    assert sorted(runs.table["setting"]) == ["content aaaaaaaa"] * 2 + ["content bbbbbbbb"]
    tables = make_tables(runs, ["accuracy"])
    assert [table.data["runs"].to_list() for table in tables] == [[2], [1]]


def test_what_failed_before_the_data_were_mended_is_no_gap(store: Store) -> None:
    contents(store, "b")
    for content, seed in (("a", 7), ("b", 8)):
        record = record_of({"/nowhere/mine.npz": content * 64}, **{**STRANGE, **AXES}, seed=seed)
        failed = {"key": str(seed), "tries": 1, "record": record, "log": "broken"}
        (store.path / "failed").mkdir(exist_ok=True)
        (store.path / "failed" / f"{seed}.json").write_bytes(sealed(failed))
    assert read_runs(store).failed["seed"].to_list() == [8]
