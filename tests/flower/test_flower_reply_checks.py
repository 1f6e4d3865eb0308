"""What a reply must be to count, one respect at a time."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flwr.app import Array, ConfigRecord, Message, MetricRecord, RecordDict

from wola.flower import wire
from wola.flower.collect import Collected, Invalid, RefusedReply, messages_to
from wola.flower.loopback import identify_process
from wola.flower.reply_checks import (
    Expected,
    Score,
    median_scores,
    read_report,
    read_score,
    read_update,
)
from wola.flower.signing import public_bytes, sign_content
from wola.flower.wire import Header

NODE = 1001
HEADER = Header("lab", "a" * 32, 4, wire.TRAIN)
EXPECTED = Expected(HEADER, "f" * 64, parameters=6, statistics=2, classes=3)


def reply(content: RecordDict) -> Message:
    identify_process()
    (asked,) = messages_to([NODE], RecordDict(), "train", round_number=4, deadline=1.0)
    return Message(content, reply_to=asked)


def train_content(**fields: Any) -> RecordDict:
    arrays = wire.update_record(torch.arange(6.0), torch.ones(2))
    record = ConfigRecord({**dict(HEADER.record()), **fields})
    return RecordDict({wire.RECORD: record, wire.UPDATE: arrays})


def test_an_honest_update_comes_out_as_it_went_in() -> None:
    update = read_update(NODE, reply(train_content()), EXPECTED)
    assert torch.equal(update.update, torch.arange(6.0))
    assert torch.equal(update.statistics, torch.ones(2))
    assert update.key is None


def without(name: str) -> Callable[[RecordDict], None]:
    return lambda content: content.pop(name)


def array(values: Any, name: str = wire.UPDATE) -> Callable[[RecordDict], None]:
    def change(content: RecordDict) -> None:
        content.array_records[wire.UPDATE][name] = Array(np.asarray(values))

    return change


def floats(*values: float) -> Any:
    return np.array(values, dtype=np.float32)


def big(content: RecordDict) -> None:
    content["extra"] = ConfigRecord({"junk": "x" * 40_000})


def other_type(content: RecordDict) -> None:
    content[wire.UPDATE] = ConfigRecord({wire.UPDATE: 1.0})


WRONG: dict[str, tuple[Callable[[RecordDict], None], str]] = {
    "no header": (without(wire.RECORD), "record 'wola' is missing"),
    "no update": (without(wire.UPDATE), "record 'update' is missing"),
    "record of another type": (other_type, "record 'update' is missing"),
    "shape": (array(np.zeros(7, dtype=np.float32)), r"shape \(7,\)"),
    "more dimensions": (array(np.zeros((6, 1), dtype=np.float32)), r"shape \(6, 1\)"),
    "dtype": (array(np.zeros(6)), "dtype 'float64'"),
    "whole numbers": (array(np.zeros(6, dtype=np.int32)), "dtype 'int32'"),
    "statistics": (array(floats(1.0), wire.STATISTICS), r"shape \(1,\)"),
    "more arrays": (array(floats(1.0), "more"), "update holds more"),
    "nan": (array(floats(0, 0, 0, 0, 0, np.nan)), "update is not finite"),
    "infinity": (array(floats(0, 0, -np.inf, 0, 0, 1)), "update is not finite"),
    "norm overflows": (array(floats(*[3e38] * 6)), "update is not finite"),
    "statistics nan": (array(floats(np.nan, 0), wire.STATISTICS), "statistics is not finite"),
    "size": (big, "bytes; allowed: at most"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_update_that_differs_in_one_respect_is_invalid(name: str) -> None:
    change, reason = WRONG[name]
    content = train_content()
    change(content)
    with pytest.raises(Invalid, match=reason):
        read_update(NODE, reply(content), EXPECTED)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("federation", "other"),
        ("run", "b" * 32),
        ("round", 3),
        ("kind", "evaluate"),
        ("protocol", 2),
        ("round", "4"),
        ("round", 4.0),
        ("run", b"a" * 32),
    ],
)
def test_a_reply_of_another_round_run_or_federation_is_invalid(field: str, value: Any) -> None:
    with pytest.raises(Invalid, match=field):
        read_update(NODE, reply(train_content(**{field: value})), EXPECTED)


def test_a_size_that_is_wrong_is_found_before_the_array_is_read() -> None:
    content = train_content()
    content.array_records[wire.UPDATE][wire.UPDATE] = Array(
        "float32", (6,), "numpy.ndarray", b"\0" * 60_000
    )
    with pytest.raises(Invalid, match="bytes; allowed: at most"):
        read_update(NODE, reply(content), EXPECTED)


def test_a_header_inside_the_bytes_that_claims_more_is_invalid() -> None:
    content = train_content()
    small = content.array_records[wire.UPDATE][wire.UPDATE]
    lying = small.data.replace(b"(6,)", b"(9,)")
    content.array_records[wire.UPDATE][wire.UPDATE] = Array("float32", (6,), "numpy.ndarray", lying)
    with pytest.raises(Invalid, match="bytes are not those"):
        read_update(NODE, reply(content), EXPECTED)


def test_claims_beside_the_update_carry_no_weight() -> None:
    content = train_content()
    content["metrics"] = MetricRecord({"num-examples": 1e9})
    assert torch.equal(read_update(NODE, reply(content), EXPECTED).update, torch.arange(6.0))


def test_a_refusal_and_another_fingerprint_are_no_lies() -> None:
    with pytest.raises(RefusedReply, match="refused: my model is smaller"):
        read_update(NODE, reply(train_content(refused="my model is smaller")), EXPECTED)
    with pytest.raises(
        RefusedReply, match=r"another model: fingerprint eeeeeeeeeeee\.\.\., not ffff"
    ):
        read_update(NODE, reply(train_content(fingerprint="e" * 64)), EXPECTED)


def query_reply(values: Any, **fields: Any) -> Message:
    head = replace(HEADER, kind=wire.QUERY).record(fingerprint="f" * 64, **fields)
    labels = MetricRecord({wire.DISTRIBUTION: values})
    return reply(RecordDict({wire.RECORD: head, wire.LABELS: labels}))


QUERY = replace(EXPECTED, header=replace(HEADER, kind=wire.QUERY))


def test_a_report_comes_out_as_it_went_in() -> None:
    report = read_report(NODE, query_reply([0.5, 0.25, 0.25]), QUERY)
    assert report.distribution.tolist() == [0.5, 0.25, 0.25]
    assert report.distribution.dtype == torch.float64


@pytest.mark.parametrize(
    "values",
    [
        [0.5, 0.5],
        [0.5, 0.5, 0.0, 0.0],
        [],
        0.5,
        [1, 0, 0],
        [1.5, -0.5, 0.0],
        [float("nan"), 0.5, 0.5],
        [float("inf"), 0.0, 0.0],
        [0.5, 0.5, 2e-6],
    ],
)
def test_a_report_that_is_no_distribution_is_invalid(values: Any) -> None:
    with pytest.raises(Invalid):
        read_report(NODE, query_reply(values), QUERY)


def test_a_report_without_labels_or_fingerprint_is_invalid() -> None:
    head = replace(HEADER, kind=wire.QUERY)
    bare = RecordDict({wire.RECORD: head.record(fingerprint="f" * 64)})
    with pytest.raises(Invalid, match="'labels' is missing"):
        read_report(NODE, reply(bare), QUERY)
    labels = MetricRecord({wire.DISTRIBUTION: [1.0, 0.0, 0.0]})
    unnamed = RecordDict({wire.RECORD: head.record(), wire.LABELS: labels})
    with pytest.raises(Invalid, match="fingerprint is missing"):
        read_report(NODE, reply(unnamed), QUERY)


@pytest.mark.parametrize(
    ("accuracy", "loss"),
    [(101.0, 1.0), (-1.0, 1.0), (float("nan"), 1.0), (50.0, float("inf")), (50, 1.0)],
)
def test_a_score_out_of_range_is_invalid(accuracy: Any, loss: float) -> None:
    head = replace(HEADER, kind=wire.EVALUATE)
    scores = MetricRecord({wire.ACCURACY: accuracy, wire.LOSS: loss})
    content = RecordDict({wire.RECORD: head.record(), wire.EVALUATION: scores})
    with pytest.raises(Invalid, match="accuracy"):
        read_score(NODE, reply(content), replace(EXPECTED, header=head))


KEY, OTHER = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
SIGNED = replace(EXPECTED, keys=frozenset([public_bytes(KEY)]))


def signed(key: Ed25519PrivateKey = KEY, node: int = NODE) -> RecordDict:
    content = train_content()
    sign_content(content, key, node)
    return content


def test_a_signed_update_counts_with_its_key() -> None:
    assert read_update(NODE, reply(signed()), SIGNED).key == public_bytes(KEY)


def test_signatures_that_do_not_fit_are_invalid() -> None:
    with pytest.raises(Invalid, match="not signed"):
        read_update(NODE, reply(train_content()), SIGNED)
    with pytest.raises(Invalid, match="key that is not allowed"):
        read_update(NODE, reply(signed(OTHER)), SIGNED)
    with pytest.raises(Invalid, match="not good for this node"):
        read_update(NODE, reply(signed(node=1002)), SIGNED)
    changed = signed()
    array(floats(1, 1, 1, 1, 1, 1))(changed)
    with pytest.raises(Invalid, match="not good for this node"):
        read_update(NODE, reply(changed), SIGNED)
    posing = signed(OTHER)
    wire.config(posing)[wire.PUBLIC_KEY] = public_bytes(KEY)
    with pytest.raises(Invalid, match="not good for this node"):
        read_update(NODE, reply(posing), SIGNED)
    for name in (wire.SIGNATURE, wire.PUBLIC_KEY):
        textual = signed()
        wire.config(textual)[name] = "text"
        with pytest.raises(Invalid, match=name):
            read_update(NODE, reply(textual), SIGNED)


def test_a_refusal_in_the_name_of_another_is_not_believed() -> None:
    with pytest.raises(Invalid, match="not signed"):
        read_update(NODE, reply(train_content(refused="no")), SIGNED)


def test_what_is_wrong_with_a_signed_reply_is_held_against_its_key() -> None:
    content = train_content()
    array(floats(0, 0, 0, 0, 0, np.nan))(content)
    sign_content(content, KEY, NODE)
    with pytest.raises(Invalid) as wrong:
        read_update(NODE, reply(content), SIGNED)
    refusing = train_content(refused="no")
    sign_content(refusing, KEY, NODE)
    with pytest.raises(RefusedReply) as refused:
        read_update(NODE, reply(refusing), SIGNED)
    assert wrong.value.key == refused.value.key == public_bytes(KEY)


def test_what_is_wrong_with_a_forged_reply_is_held_against_no_key() -> None:
    posing = signed(OTHER)
    wire.config(posing)[wire.PUBLIC_KEY] = public_bytes(KEY)
    with pytest.raises(Invalid) as wrong:
        read_update(NODE, reply(posing), SIGNED)
    assert wrong.value.key is None


def test_one_boaster_does_not_move_the_median() -> None:
    scores = Collected(accepted={i: Score(a, 1.0) for i, a in enumerate([80.0, 81.0, 100.0])})
    metrics = median_scores(scores)
    assert metrics is not None
    assert (metrics["accuracy"], metrics["replied"]) == (81.0, 3)
    assert median_scores(Collected()) is None
