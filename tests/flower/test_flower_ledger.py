"""Records of rounds: there and back as JSON, and as a file that follows a run."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from flwr.app import MetricRecord

from wola.flower.ledger import Ledger, RoundRecord, finite_or_none

RECORD = RoundRecord(
    round=2,
    kind="train",
    replied=(1001, 2**63),
    dropped={1003: "update is not finite"},
    refused={},
    missing={1004: "error 5: gone"},
    n=2,
    f=0,
    weights={1001: 0.25, 2**63: 0.75},
    dissimilarity=0.5,
    norm=1.5,
    seconds={"collect": 1.0, "rule": 0.5},
    bytes_in=10,
    bytes_out=20,
)


def test_a_record_comes_back_from_json_as_it_was() -> None:
    assert RoundRecord.from_json(RECORD.to_json()) == RECORD
    skipped = replace(RECORD, skipped="too few", weights=None, norm=None)
    assert RoundRecord.from_json(skipped.to_json()) == skipped


def test_the_file_has_a_line_per_round_and_starts_with_what_is_given(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "records.jsonl"
    ledger = Ledger(path)
    ledger.begin()
    assert path.read_text() == ""
    ledger.add(RECORD)
    ledger.add(replace(RECORD, round=3))
    assert [json.loads(line)["round"] for line in path.read_text().splitlines()] == [2, 3]
    again = Ledger(path)
    again.begin(ledger.lines()[:1])
    again.add(replace(RECORD, round=4))
    assert [json.loads(line)["round"] for line in path.read_text().splitlines()] == [2, 4]


def test_metrics_hold_the_numbers_and_leave_out_what_is_not_known() -> None:
    metrics = RECORD.metrics()
    assert (metrics["dropped"], metrics["missing"], metrics["skipped"]) == (1, 1, 0)
    assert metrics["seconds"] == 1.5
    assert "accuracy" not in metrics


def test_an_evaluation_adds_its_numbers_and_its_time() -> None:
    record = RECORD.evaluated(MetricRecord({"accuracy": 90, "loss": float("nan")}), 2.0)
    assert (record.accuracy, record.loss) == (90.0, None)
    assert record.seconds["evaluate"] == 2.0
    assert record.evaluated(None, 1.0).accuracy == 90.0
    assert record.evaluated(None, 1.0).seconds["evaluate"] == 3.0


def test_words_say_who_was_dropped_and_why() -> None:
    text = str(replace(RECORD, skipped="too few left", accuracy=12.345))
    for part in ("2 replies used", "dropped 1003: update is not finite", "missing 1004", "12.3 %"):
        assert part in text
    assert text.endswith("skipped: too few left")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_json_never_holds_what_is_no_number(value: float) -> None:
    assert finite_or_none(value) is None
    with pytest.raises(ValueError, match="JSON"):
        replace(RECORD, norm=value).to_json()
