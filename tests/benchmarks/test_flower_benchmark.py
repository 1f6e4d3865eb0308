import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from flwr.app import ArrayRecord
from flwr.serverapp.strategy import FedAvg

from benchmarks import flower, flower_faults, flower_faulty, flower_page
from benchmarks.flower_clients import stock_client
from benchmarks.flower_costs import ONCE, TRAINING, costs
from benchmarks.flower_deployment import HonestPlan, between_rounds
from benchmarks.flower_faults import STOCK, outcome, recorded, table
from benchmarks.flower_faulty import FAULTS, NOTHING
from benchmarks.flower_rounds import BASE, OURS, Setting, TimedGrid, contenders, measure, quiet
from wola.aggregation import Mean
from wola.flower import LoopbackGrid, RoundRecord, WolaStrategy, wola_client
from wola.labels import Uniform

SMALL = Setting("digits MLP", n=3, f=0, local_steps=2)


def test_the_stock_client_trains_as_wola_does_without_momentum_and_weights(tmp_path: Path) -> None:
    recipe = type(SMALL.recipe)(
        lr=0.1, schedule="constant", beta=0.0, batch=16, local_steps=3, loss="cross-entropy"
    )
    stock = [stock_client(SMALL.module(), SMALL.data(i), worker=i, recipe=recipe) for i in range(3)]
    ours = [
        wola_client(SMALL.module(), SMALL.data(i), classes=10, state=tmp_path) for i in range(3)
    ]
    strategy = WolaStrategy(
        SMALL.module(), classes=10, n=3, f=0, rule=Mean(), recipe=recipe, objective=Uniform()
    )
    with quiet():
        made = strategy.start(LoopbackGrid(ours), num_rounds=2).arrays.to_torch_state_dict()
        arrays = ArrayRecord(SMALL.module().state_dict())
        flat = FedAvg(fraction_evaluate=0.0).start(LoopbackGrid(stock), arrays, num_rounds=2)
    # Weight decay is clipped along with the gradient in wola, and added afterwards in PyTorch.
    for name, value in flat.arrays.to_torch_state_dict().items():
        torch.testing.assert_close(made[name], value, atol=1e-5, rtol=1e-4)


def test_every_contender_is_timed_and_its_bytes_are_counted(tmp_path: Path) -> None:
    setting = Setting("digits MLP", n=5, f=1, local_steps=1)
    found = measure(setting, tmp_path, turns=1, rounds=2, budget=0.0)
    assert list(found) == list(contenders(setting, tmp_path / "again"))
    parameters = sum(weight.numel() for weight in setting.module().parameters())
    for one in found.values():
        assert one["rounds"] == 2
        assert one["wall"] > 0
        assert one["cpu"] > 0
        for way in ("out", "in"):
            assert 4 * parameters * 5 < one[way] < 1.3 * 4 * parameters * 5


def test_times_are_taken_between_rounds_of_training_alone(tmp_path: Path) -> None:
    with quiet():
        grid = contenders(SMALL, tmp_path)[OURS](3, False)
    assert isinstance(grid, TimedGrid)
    assert len(grid.times) == 3
    assert len(grid.seconds()) == 2


def test_every_part_of_the_costs_takes_some_time() -> None:
    found = costs("digits MLP", calls=2)
    assert {TRAINING, ONCE} < set(found)
    assert min(found.values()) > 0


def test_the_table_of_faults_tells_crashes_liars_and_drops_apart() -> None:
    claim, names = (
        "it claims 1e9 examples, with the sign flipped",
        "it sends arrays under other names",
    )
    stock = ("FedAvg", "FedMedian")
    stolen = "it sends another's reply as its own"
    faults = [claim, names, "it raises an error", stolen]
    found = table(faults, lambda line: None, strategies=stock)
    assert list(found) == [NOTHING, *faults]
    for name in [*stock, flower_faults.OURS]:
        assert found[NOTHING][name]["outcome"] == "ran on"
        assert found[NOTHING][name]["accuracy"] > 80
    assert found[claim]["FedAvg"]["outcome"].startswith("followed the liar")
    assert found[claim]["FedMedian"]["outcome"] == "ran on"
    assert found[claim]["wola"]["outcome"] == "ran on"
    for name in stock:
        assert found[names][name]["outcome"] == "crashed: InconsistentMessageReplies"
    assert found[names]["wola"]["outcome"] == "ran on, dropped and recorded"
    assert "update holds weights" in found[names]["wola"]["reason"]
    assert found[stolen]["FedAvg"]["outcome"] == "ran on"
    assert "not good for this node" in found[stolen]["wola"]["reason"]
    assert found["it raises an error"]["wola"]["outcome"] == "ran on, missing and recorded"


def test_who_waits_for_ever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flower_faulty.FaultyGrid, "patience", 0.1)
    grid = flower_faulty.FaultyGrid([])
    grid.since -= 1.0
    with pytest.raises(flower_faulty.Waiting):
        grid.get_node_ids()


def test_outcomes_are_put_into_words() -> None:
    assert outcome(None, 90.0, 0) == "no step made"
    assert outcome(math.nan, 90.0, 0) == "model NaN"
    assert outcome(79.0, 90.0, 0) == "followed the liar: 79 %"
    assert outcome(81.0, 90.0, 0) == "ran on"
    assert outcome(81.0, 90.0, 2) == "ran on, 2 rounds until the timeout"


def test_the_reason_is_that_of_the_last_round_of_training() -> None:
    rest: dict[str, Any] = {"n": 7, "f": 1}
    query = RoundRecord(0, "query", (), {1008: "asked"}, {}, {}, **rest)
    first = RoundRecord(1, "train", (), {1008: "too long"}, {}, {}, **rest)
    later = RoundRecord(2, "train", (), {}, {}, {1008: "error 5"}, **rest)
    assert recorded([query]) == ""
    assert recorded([query, first]) == "dropped: too long"
    assert recorded([query, first, later]) == "missing: error 5"


def test_a_deployment_without_liars_counts_from_the_first_round_on() -> None:
    plan = HonestPlan(rounds=3)
    assert plan.liar not in range(plan.clients)
    assert between_rounds([0.0, 5.0, 7.0, 10.0], rounds=3) == [2.0, 3.0]


def measured_rounds(ours: float) -> dict[str, Any]:
    one = {"cpu": 0.1, "wall": 0.2, "rounds": 4, "out": 2e6, "in": 1e6}
    setting = {"size": "digits MLP", "n": 5, "f": 1, "local_steps": 1, "parameters": 4810}
    found = {BASE: one, OURS: {**one, "cpu": ours}}
    return {"setting": setting, "found": found}


def record_of(ours: float) -> dict[str, Any]:
    environment = {"date": "today"}
    seen = {"outcome": "ran on", "accuracy": 91.0, "reason": ""}
    row: dict[str, Any] = dict.fromkeys([*STOCK, "wola"], seen)
    lied = {**row, "FedAvg": {**seen, "outcome": "crashed: ValueError", "accuracy": None}}
    lied["wola"] = {**seen, "outcome": "ran on, dropped and recorded", "reason": "dropped: shape"}
    return {
        "rounds": {
            "environment": environment,
            "found": [measured_rounds(ours)],
            "costs": {"digits MLP": {TRAINING: 0.001, "momentum": 0.002, ONCE: 0.003}},
        },
        "faults": {"environment": environment, "found": {NOTHING: row, "it lies": lied}},
        "deployment": {
            "environment": environment,
            "found": {
                "clients": 5,
                "median": {"fedavg": 10.0, "wola": 10.5},
                "seconds": {"fedavg": [9.0, 10.0, 11.0], "wola": [10.5]},
            },
        },
    }


def test_the_page_tells_whether_the_goal_is_reached() -> None:
    slow = flower_page.page(record_of(0.12))
    assert "| digits MLP (4,810), n = 5, 1 batch | 100.0 | 120.0 | +20% | no | +0% |" in slow
    assert "The goal is missed in 1 of 1 settings: digits MLP (4,810), n = 5, 1 batch." in slow
    quick = flower_page.page(record_of(0.105))
    assert "| 100.0 | 105.0 | +5% | yes | +0% |" in quick
    assert "The goal is reached in all 1 settings." in quick


def test_the_page_has_bytes_costs_deployment_and_faults() -> None:
    text = flower_page.page(record_of(0.1))
    assert f"| {BASE} | 100.0 | +0% | 200.0 | 2,000 | 1,000 | 4 |" in text
    assert "| sum without training and options | 2.00 |" in text
    assert "| wola over FedAvg in a round, n = 5 | 0.00 |" in text
    assert "| Flower FedAvg | 10.0 | 9.0 to 11.0 | 3 |" in text
    assert "wola over FedAvg: +5% (goal: under 10%, reached)" in text
    assert "| nothing | ran on: 91 % |" in text
    assert "| it lies | crashed: ValueError | ran on |" in text
    assert "| it lies | dropped: shape |" in text
    assert "| FedAvg | 0 | 0 | 1 | 0 | 0 | 0 |" in text
    assert "| wola | 1 | 0 | 0 | 0 | 0 | 0 |" in text


def test_a_part_measured_again_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = record_of(0.1)
    flower.save(record, tmp_path)
    again = {"found": record["deployment"]["found"] | {"clients": 7}}
    monkeypatch.setattr(flower, "deployment", lambda options: again)
    flower.main(["--out", str(tmp_path), "--only", "deployment"])
    written = json.loads((tmp_path / "flower.json").read_text())
    assert written["deployment"]["found"]["clients"] == 7
    assert written["deployment"]["environment"]["command"].endswith("--only deployment")
    assert written["rounds"] == record["rounds"]
    assert "7 honest" in (tmp_path / "flower.md").read_text()


def test_a_deployment_is_measured_only_when_asked_for() -> None:
    assert list(flower.chosen(flower.parse([]))) == ["rounds", "faults"]
    assert list(flower.chosen(flower.parse(["--deployment"]))) == list(flower.PARTS)


def test_every_fault_that_waits_is_short() -> None:
    for fault in FAULTS.values():
        assert not fault.slow or fault.rounds == 2
