"""`wola runs`, all but what carries runs from store to store."""

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest
import typer

from tests.bench.made_up import put, trained
from tests.cli.conftest import Wola
from wola.bench.grid import Grid
from wola.bench.store import Store
from wola.cli import runs as runs_module
from wola.ground.sealed import sealed
from wola.training import SEMANTICS, Scenario
from wola.training.scenario import record_key


@pytest.fixture
def store(wola: Wola) -> Store:
    return Store.open("store")


def test_runs_are_listed_a_line_each(wola: Wola, store: Store) -> None:
    keys = [put(store, Scenario(seed=seed)) for seed in (1, 2)]
    shown = wola("runs", "ls")
    assert shown.exit_code == 0
    assert all(key[:10] in shown.output for key in keys)
    assert "2 runs" in shown.output


def test_a_long_text_is_neither_cut_nor_wrapped_in_a_pipe(wola: Wola, store: Store) -> None:
    long = "shared(rule=geometric-median(iterations=3, nu=0.5), noise=laplace(epsilon=0.125))"
    attack = "optimal-alie(evaluations=100000000000, start=0.1234567890123456)"
    put(store, Scenario(objective=long, attack=attack, aggregator="centered-clipping(tau=0.12345)"))
    shown = wola("runs", "ls").output.splitlines()
    assert len(shown) == 3
    assert attack in shown[1]


def test_a_list_can_be_narrowed_by_any_field(wola: Wola, store: Store) -> None:
    for name in ("-", "WoLA", "NNM"):
        for alpha in (1.0, 0.3):
            put(store, Scenario.paper(strategy=name, alpha=alpha))
    words = ("--strategy", "wola", "--strategy", "NNM", "--alpha", "0.30")
    shown = wola("runs", "ls", *words)
    assert "2 runs" in shown.output
    assert "WoLA" in shown.output
    assert "0 runs" in wola("runs", "ls", "--dataset", "mnist").output


def test_a_wrong_value_is_answered_with_what_is_allowed(wola: Wola, store: Store) -> None:
    shown = wola("runs", "ls", "--strategy", "WOLLA")
    assert shown.exit_code == 2
    assert "did you mean" in shown.output


def test_failed_and_running_runs_are_listed_apart(wola: Wola, store: Store) -> None:
    key = store.key(Scenario())
    store.fail(key, Scenario(), "Traceback\nMemoryError: no")
    assert "MemoryError: no" in wola("runs", "ls", "--failed").output
    assert "0 runs" in wola("runs", "ls", "--failed", "--dataset", "mnist").output
    claim = store.claim(key)
    assert claim is not None
    with claim:
        assert f"process {claim.owner.pid}" in wola("runs", "ls", "--running").output


def test_a_run_is_shown_with_its_scenario_and_its_place(wola: Wola, store: Store) -> None:
    result = trained()
    answered = result.scenario.with_strategy("BKT")
    store.note_coincidences([(answered, result.scenario)])
    key = store.key(result.scenario)
    store.write(key, result)
    shown = wola("runs", "show", key[:6])
    assert shown.exit_code == 0
    assert 'dataset = "iris"' in shown.output
    assert "answers as well: BKT, trimmed-mean, alie" in shown.output
    assert str(store.folder(key)) in shown.output


def test_a_failed_run_is_shown_with_its_log(wola: Wola, store: Store) -> None:
    key = store.key(Scenario())
    store.fail(key, Scenario(), "what happened")
    assert "what happened" in wola("runs", "show", key).output


@pytest.mark.parametrize("beginning", ["xyz", ""])
def test_a_key_must_begin_like_one_run(wola: Wola, store: Store, beginning: str) -> None:
    for seed in (1, 2):
        put(store, Scenario(seed=seed))
    shown = wola("runs", "show", beginning)
    assert shown.exit_code == 2
    assert "run" in shown.output


def test_two_runs_are_compared_field_by_field(wola: Wola, store: Store) -> None:
    keys = [put(store, Scenario(seed=seed), accuracy=10.0 * seed) for seed in (1, 2)]
    shown = wola("runs", "diff", *keys)
    assert "seed" in shown.output
    assert "20" in shown.output
    assert "dataset" not in shown.output
    assert "not the same bits" in shown.output
    assert "not the same" not in wola("runs", "diff", keys[0], keys[0]).output


def test_a_failed_run_cannot_be_compared(wola: Wola, store: Store) -> None:
    key = put(store, Scenario(seed=1))
    failed = store.key(Scenario(seed=2))
    store.fail(failed, Scenario(seed=2), "")
    assert wola("runs", "diff", key, failed).exit_code == 2


def test_runs_are_deleted_by_key_or_by_field(wola: Wola, store: Store) -> None:
    keys = [put(store, Scenario(seed=seed)) for seed in (1, 2, 3)]
    assert "1 deleted" in wola("runs", "rm", keys[0][:12], "--yes").output
    assert "1 deleted" in wola("runs", "rm", "--seed", 2, "-y").output
    assert list(store.keys()) == [keys[2]]


def test_failures_are_forgotten_on_demand(wola: Wola, store: Store) -> None:
    store.fail(store.key(Scenario()), Scenario(), "")
    assert "1 deleted" in wola("runs", "rm", "--failed", "--yes").output
    assert store.failed() == []
    assert "0 deleted" in wola("runs", "rm", "--failed").output


def test_nothing_is_deleted_unasked(wola: Wola, store: Store) -> None:
    put(store, Scenario())
    assert wola("runs", "rm").exit_code == 2
    shown = wola("runs", "rm", "--seed", 1)
    assert shown.exit_code == 2
    assert shown.output == (
        "wola: there is no terminal to ask on; allowed: --yes, to delete 1 run from store\n"
    )
    assert len(list(store.keys())) == 1


@pytest.mark.parametrize(("answer", "left"), [(False, 1), (True, 0)])
def test_somebody_at_a_terminal_is_asked(
    wola: Wola, store: Store, monkeypatch: pytest.MonkeyPatch, answer: bool, left: int
) -> None:
    put(store, Scenario())
    asked: list[str] = []
    monkeypatch.setattr(runs_module, "_at_a_terminal", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda question: asked.append(question) or answer)
    assert wola("runs", "rm", "--seed", 1).exit_code == 1 - answer
    assert asked == ["Delete 1 run from store?"]
    assert len(list(store.keys())) == left


def test_tidying_says_which_runs_are_damaged(wola: Wola, store: Store) -> None:
    key = put(store, Scenario())
    (store.folder(key) / "metrics.parquet").write_bytes(b"")
    shown = wola("runs", "gc")
    assert shown.exit_code == 0
    assert f"{key[:10]} is damaged and was set aside" in shown.output
    assert "1 damaged run set aside" in shown.output
    assert "1 run set aside before" in wola("runs", "gc", "--corrupt").output


def test_a_folder_that_is_no_store_is_refused(wola: Wola) -> None:
    shown = wola("runs", "ls", "--store", "none")
    assert shown.exit_code == 2
    assert "none is no store" in shown.output
    assert not Path("none").exists()


def of_another_version(store: Store) -> str:
    """A run whose record names semantics that this version does not know."""
    record = {"semantics": "0", "fields": {"old_field": 3, "seed": 7}, "content": {}}
    key, metrics = record_key(record), b"of another form"
    summary = {"metrics_sha256": sha256(metrics).hexdigest()}
    store.put(
        key,
        {
            "scenario.json": json.dumps(record).encode(),
            "metrics.parquet": metrics,
            "summary.json": sealed(summary),
        },
    )
    return key


def test_runs_of_another_version_are_counted_and_never_called_damaged(
    wola: Wola, store: Store
) -> None:
    put(store, Scenario())
    key = of_another_version(store)
    told = "and 1 run of another version of wola (semantics '0'), kept"
    listed, tidied, shown = wola("runs", "ls"), wola("runs", "gc"), wola("runs", "show", key)
    assert "1 run\n" in listed.output
    assert told in listed.output
    assert told in tidied.output
    assert "0 damaged runs" in tidied.output
    assert store.is_done(key)
    assert shown.exit_code == 0
    assert "of another version of wola, semantics '0'" in shown.output
    assert "old_field = 3" in shown.output
    assert json.loads(wola("runs", "show", key, "--json").stdout)["summary"] is None
    assert "is of another version" in wola("runs", "diff", key, key).stderr


def test_a_damaged_run_is_not_shown(wola: Wola, store: Store) -> None:
    key = put(store, Scenario())
    (store.folder(key) / "metrics.parquet").write_bytes(b"")
    shown = wola("runs", "show", key)
    assert shown.exit_code == 2
    assert "metrics.parquet is damaged" in shown.stderr


def test_a_list_as_json_holds_every_column_and_nothing_else(wola: Wola, store: Store) -> None:
    keys = {put(store, Scenario(seed=seed), accuracy=None) for seed in (1, 2)}
    rows = json.loads(wola("runs", "ls", "--json").stdout)
    assert {row["key"] for row in rows} == keys
    assert {"strategy", "aggregator", "accuracy", "content"} <= rows[0].keys()
    assert json.loads(wola("runs", "ls", "--json", "--seed", 3).stdout) == []
    store.fail(store.key(Scenario(seed=9)), Scenario(seed=9), "MemoryError")
    (failed,) = json.loads(wola("runs", "ls", "--json", "--failed").stdout)
    assert (failed["seed"], failed["ending"]) == (9, "MemoryError")
    claim = store.claim(failed["key"])
    assert claim is not None
    with claim:
        (running,) = json.loads(wola("runs", "ls", "--json", "--running").stdout)
        assert (running["key"], running["pid"]) == (failed["key"], claim.owner.pid)


def test_a_run_as_json_is_its_record_and_summary(wola: Wola, store: Store) -> None:
    key = put(store, Scenario(seed=3))
    shown = json.loads(wola("runs", "show", key[:8], "--json").stdout)
    assert shown["record"] == store.record(key)
    assert shown["summary"] == store.summary(key)
    store.fail(store.key(Scenario(seed=9)), Scenario(seed=9), "MemoryError")
    failed = json.loads(wola("runs", "show", store.key(Scenario(seed=9)), "--json").stdout)
    assert (failed["tries"], failed["log"]) == (1, "MemoryError")


def test_scenarios_that_another_ones_run_answers_are_listed_on_demand(
    wola: Wola, store: Store
) -> None:
    run = Scenario.paper(strategy="-")
    store.note_coincidences([(run.with_strategy("BKT"), run)])
    put(store, run)
    assert "1 run\n" in wola("runs", "ls").output
    assert "2 runs\n" in wola("runs", "ls", "--coinciding").output


def test_looking_at_a_strangers_store_imports_nothing(wola: Wola, store: Store) -> None:
    Path("strange.py").write_text("raise SystemExit('it was imported')\n")
    fields = {"aggregator": "strange:Rule(k=1)", "dataset": "npz(/nowhere.npz)", "seed": 4}
    put_record(store, fields)
    listed = wola("runs", "ls", "--aggregator", "strange:Rule")
    assert "strange:Rule(k=1)" in listed.output
    assert "1 run\n" in listed.output
    assert "1 run\n" in wola("runs", "ls", "--aggregator", "strange:Rule( k = 1 )").output
    assert "0 runs\n" in wola("runs", "ls", "--aggregator", "strange:Rule(k=2)").output
    assert "1 run\n" in wola("runs", "ls", "--dataset", "npz").output
    (key,) = store.keys()
    assert "strange:Rule(k=1)" in wola("runs", "show", key).output
    assert "strange" not in sys.modules


def put_record(store: Store, fields: dict[str, object]) -> None:
    """A made-up run of a scenario that cannot be made here."""
    key = put(store, Scenario(seed=4))
    files = {n: (store.folder(key) / n).read_bytes() for n in ("metrics.parquet", "summary.json")}
    store.remove(key)
    record = {"semantics": SEMANTICS, "fields": fields, "content": {"strange": "ab12"}}
    store.put(record_key(record), {**files, "scenario.json": json.dumps(record).encode()})


def test_strategies_of_a_grids_own_can_be_asked_for(wola: Wola, store: Store) -> None:
    mine = Grid(strategies={"Mine": {"loss": "wola", "mixing": "arc"}})
    store.note_strategies(mine.strategies)
    put(store, mine.scenarios()[0])
    put(store, Scenario())
    assert "1 run\n" in wola("runs", "ls", "--strategy", "mine").output
    store.fail(store.key(mine.scenarios()[0].changed(seed=2)), mine.scenarios()[0], "no")
    assert "Mine" in wola("runs", "ls", "--failed").output
