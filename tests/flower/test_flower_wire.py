"""What travels: headers, arrays and digests, and everything that is refused."""

import struct

import numpy as np
import pytest
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.flower.one_client import RUN, header, message
from wola.flower import wire
from wola.flower.canonical_bytes import length_prefixed, record_digest


def test_a_header_comes_back_as_it_was_sent():
    sent = message(RecordDict({wire.RECORD: header(wire.TRAIN, 7, extra=1.5)}), wire.TRAIN)
    assert wire.Header.of(sent.content) == wire.Header("lab", RUN, 7, wire.TRAIN)
    assert wire.value(wire.config(sent.content), "extra", float) == 1.5


def test_a_header_makes_the_record_it_came_from():
    record = header(wire.QUERY, classes=4)
    assert wire.Header.of(RecordDict({wire.RECORD: record})).record(classes=4) == record


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"protocol": 2}, "protocol = 2"),
        ({"protocol": True}, "protocol has type bool"),
        ({"round": "1"}, "round has type str"),
        ({"round": -1}, "round = -1"),
        ({"run": "../../etc"}, "run = '../../etc'"),
        ({"run": RUN + "\n"}, "32 hexadecimal digits"),
        ({"kind": "dance"}, "kind = 'dance'"),
    ],
)
def test_a_wrong_header_is_refused(changes, words):
    record = ConfigRecord({**header(wire.TRAIN, 1), **changes})
    with pytest.raises(wire.WireError, match=words):
        wire.Header.of(RecordDict({wire.RECORD: record}))


def test_a_missing_header_or_field_is_refused():
    with pytest.raises(wire.WireError, match="'wola' is missing"):
        wire.Header.of(RecordDict())
    with pytest.raises(wire.WireError, match="'wola' is missing"):
        wire.config(RecordDict({wire.RECORD: MetricRecord({"round": 1})}))
    with pytest.raises(wire.WireError, match="protocol is missing"):
        wire.Header.of(RecordDict({wire.RECORD: ConfigRecord()}))


@pytest.mark.parametrize("given", [3.0, [1, 2], ["a"], [0.5, True]])
def test_a_vector_that_is_no_list_of_floats_is_refused(given):
    record = ConfigRecord()
    # Past Flower's own check of types, as a sender with other software is.
    record.__dict__["_data"]["q"] = given
    with pytest.raises(wire.WireError, match="q is not a list of floats"):
        wire.vector(record, "q")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(width=32), max_size=20))
def test_a_vector_keeps_its_bits(values):
    tensor = torch.tensor(values, dtype=torch.float32)
    back = wire.read_array(wire.flat_array(tensor), len(values))
    assert back.numpy().tobytes() == tensor.numpy().tobytes()


def test_what_is_read_is_a_copy():
    array = wire.flat_array(torch.zeros(2))
    wire.read_array(array, 2).fill_(5.0)
    assert wire.read_array(array, 2).tolist() == [0.0, 0.0]


def lying(dtype="float32", shape=(2,), stype="numpy.ndarray", values=None, data=None):
    values = np.zeros(2, dtype=np.float32) if values is None else values
    return Array(dtype, shape, stype, Array(values).data if data is None else data)


HONEST = wire.flat_array(torch.zeros(2)).data


@pytest.mark.parametrize(
    "array",
    [
        lying(dtype="float64"),
        lying(shape=(3,)),
        lying(shape=(1, 2)),
        lying(shape=()),
        lying(stype="pickle"),
        lying(values=np.zeros(3, dtype=np.float32)),
        lying(values=np.zeros(1, dtype=np.float64)),
        lying(values=np.zeros(2, dtype=np.int32)),
        lying(values=np.zeros((1, 2), dtype=np.float32)),
        lying(values=np.zeros(2, dtype=">f4")),
        lying(data=b""),
        lying(data=HONEST[:9]),
        lying(data=HONEST[:-1]),
        lying(data=HONEST + b"\0"),
        lying(data=HONEST + b"\0" * 10_000),
        lying(data=HONEST.replace(b"(2,)", b"(9,)")),
        lying(data=b"\x93NUMPY\x02\x00" + HONEST[8:]),
        lying(data=HONEST[:8] + struct.pack("<H", 65535) + HONEST[10:]),
    ],
)
def test_an_array_that_is_not_what_it_says_is_refused(array):
    with pytest.raises(wire.WireError):
        wire.read_array(array, 2)


def test_arrays_are_read_by_name_and_nothing_else_may_be_there():
    record = wire.model_record(torch.ones(2), torch.zeros(3))
    content = RecordDict({wire.MODEL: record})
    read = wire.read_arrays(content, wire.MODEL, {wire.PARAMETERS: 2, wire.STATISTICS: 3})
    assert read[wire.PARAMETERS].tolist() == [1.0, 1.0]
    assert read[wire.STATISTICS].tolist() == [0.0] * 3
    with pytest.raises(wire.WireError, match="holds parameters, statistics; allowed: parameters"):
        wire.read_arrays(content, wire.MODEL, {wire.PARAMETERS: 2, wire.STATISTICS: 0})
    with pytest.raises(wire.WireError, match="'update' is missing"):
        wire.read_arrays(content, wire.UPDATE, {wire.UPDATE: 2})
    with pytest.raises(wire.WireError, match="holds nothing"):
        wire.read_arrays(RecordDict({"m": ArrayRecord()}), "m", {"a": 2})


def content(**changes):
    parts = {
        "values": [1.0, 2.0],
        "dtype": torch.float32,
        "name": wire.UPDATE,
        "distribution": [0.5, 0.5],
        "number": 1,
        **changes,
    }
    array = Array(torch.tensor(parts["values"], dtype=parts["dtype"]).numpy())
    return RecordDict(
        {
            wire.RECORD: header(wire.TRAIN, 1, number=parts["number"]),
            parts["name"]: ArrayRecord({wire.UPDATE: array}),
            wire.LABELS: MetricRecord({"distribution": parts["distribution"]}),
        }
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"values": [1.0, -2.0]},
        {"values": [[1.0, 2.0]]},
        {"dtype": torch.float64},
        {"name": "updates"},
        {"distribution": [0.5, 0.5000000000000001]},
        {"distribution": [0.5, 0.5, 0.0]},
        {"number": 1.0},
        {"number": True},
        {"number": "1"},
        {"number": b"1"},
        {"number": [1]},
    ],
)
def test_a_digest_changes_with_anything_that_is_said(changes):
    assert wire.digest(content(**changes)) != wire.digest(content())


@pytest.mark.parametrize("claim", [{"dtype": "int32"}, {"shape": (1, 2)}, {"stype": "raw"}])
def test_a_digest_changes_with_what_is_claimed_of_the_same_bytes(claim):
    other = content()
    other[wire.UPDATE][wire.UPDATE] = lying(data=content()[wire.UPDATE][wire.UPDATE].data, **claim)
    assert wire.digest(other) != wire.digest(content())


def test_a_digest_is_that_of_what_arrives_in_any_order():
    sent = content()
    turned = RecordDict({name: sent[name] for name in reversed(list(sent))})
    arrived = message(sent, wire.TRAIN).content
    assert wire.digest(sent) == wire.digest(turned) == wire.digest(arrived)


def test_a_digest_leaves_out_the_signature_of_the_header_alone():
    signed, other = content(), content()
    wire.config(signed)[wire.SIGNATURE] = b"s"
    wire.config(signed)[wire.PUBLIC_KEY] = b"k"
    assert wire.digest(signed) == wire.digest(content())
    other["more"] = ConfigRecord({wire.SIGNATURE: b"s"})
    assert wire.digest(other) != wire.digest(content())
    assert record_digest(signed) != record_digest(content())


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=3), max_size=4), st.lists(st.binary(max_size=3), max_size=4))
def test_framed_parts_are_told_apart(one, other):
    assert (length_prefixed(*one) == length_prefixed(*other)) == (one == other)
