"""Checks of replies: everything a client sends is compared with what was asked of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from statistics import median

import torch
from flwr.app import Message, MetricRecord, RecordDict
from torch import Tensor

from wola.flower import wire
from wola.flower.collect import Collected, Invalid, RefusedReply, Unused
from wola.flower.content_size import content_size
from wola.flower.printable_text import printable_text
from wola.flower.reply_pull import ReplyLimits
from wola.flower.signing import verify
from wola.flower.wire import Header, WireError
from wola.labels.simplex import is_distribution

#: Bytes that a reply may have beyond its vectors and its label distribution.
ROOM = 16 * 1024


@dataclass(frozen=True)
class Expected:
    """What a valid reply fits: the header of the round, the server's model, the allowed keys.

    `parameters` is d, `statistics` s, `classes` C. With `keys`, of 32 bytes each, every reply
    must be signed by one of them.
    """

    header: Header
    fingerprint: str
    parameters: int
    statistics: int
    classes: int
    keys: frozenset[bytes] | None = None

    @property
    def largest(self) -> int:
        """The largest number of bytes of a reply of this kind."""
        if self.header.kind == wire.TRAIN:
            sizes = (self.parameters, self.statistics)
            return sum(map(wire.array_bytes, sizes)) + ROOM
        return 8 * self.classes + ROOM

    @property
    def limits(self) -> ReplyLimits:
        """What a reply of this kind may have before anything is made of it."""
        vectors = self.parameters + self.statistics if self.header.kind == wire.TRAIN else 0
        return ReplyLimits(arrays=4 * vectors + ROOM, records=8 * self.classes + 2 * ROOM)


@dataclass(frozen=True, eq=False)
class Update:
    """What is kept of a train reply: `update` (d,), `statistics` (s,), and the key that signed."""

    update: Tensor
    statistics: Tensor
    key: bytes | None = None


@dataclass(frozen=True, eq=False)
class LabelReport:
    """What is kept of a query reply: `distribution` (C,) float64, and the key that signed."""

    distribution: Tensor
    key: bytes | None = None


@dataclass(frozen=True)
class Score:
    """What is kept of an evaluate reply: `accuracy` in percent, `loss`, the key that signed."""

    accuracy: float
    loss: float
    key: bytes | None = None


def read_update(node: int, reply: Message, expected: Expected) -> Update:
    """The update of a train reply, or `Invalid`, or `RefusedReply`.

    It is finite if its norm does not overflow in float32, as it is for a rule.
    """
    key = _checked_signer(node, reply, expected)
    sizes = {wire.UPDATE: expected.parameters, wire.STATISTICS: expected.statistics}
    with _signed_by(key):
        vectors = wire.read_arrays(reply.content, wire.UPDATE, sizes)
        for name, vector in vectors.items():
            norm = float(torch.linalg.vector_norm(vector, dtype=torch.float64))
            if not norm <= torch.finfo(torch.float32).max:
                raise Invalid(f"{name} is not finite")
    return Update(vectors[wire.UPDATE], vectors[wire.STATISTICS], key)


def read_report(node: int, reply: Message, expected: Expected) -> LabelReport:
    """The label distribution of a query reply, or `Invalid`, or `RefusedReply`."""
    key = _checked_signer(node, reply, expected)
    with _signed_by(key):
        record = _metrics(reply.content, wire.LABELS)
        values = record.get(wire.DISTRIBUTION)
        if not isinstance(values, list) or not all(type(value) is float for value in values):
            raise Invalid("the label distribution is not a list of floats")
        if len(values) != expected.classes:
            count = f"{len(values)} classes in the label distribution"
            raise Invalid(f"{count}, not {expected.classes}")
        distribution = torch.tensor(values, dtype=torch.float64)
        if not bool(is_distribution(distribution)):
            raise Invalid("the label distribution is not finite and non-negative with sum 1")
    return LabelReport(distribution, key)


def read_score(node: int, reply: Message, expected: Expected) -> Score:
    """The accuracy and the loss of an evaluate reply, or `Invalid`, or `RefusedReply`."""
    key = _checked_signer(node, reply, expected)
    with _signed_by(key):
        record = _metrics(reply.content, wire.EVALUATION)
        accuracy, loss = record.get(wire.ACCURACY), record.get(wire.LOSS)
        if type(accuracy) is not float or type(loss) is not float:
            raise Invalid("accuracy and loss are not both floats")
        if not 0 <= accuracy <= 100 or not isfinite(loss):
            raise Invalid(f"accuracy = {accuracy}, loss = {loss}; allowed: 0 to 100, and finite")
    return Score(accuracy, loss, key)


def median_scores(scores: Collected[Score]) -> MetricRecord | None:
    """The median accuracy and loss over the clients, none of which counts more; None of none."""
    found = list(scores.accepted.values())
    if not found:
        return None
    return MetricRecord(
        {
            "accuracy": median(score.accuracy for score in found),
            "loss": median(score.loss for score in found),
            "replied": len(found),
        }
    )


def _checked_signer(node: int, reply: Message, expected: Expected) -> bytes | None:
    """The key that signed the reply, after the checks that every kind of reply must pass."""
    size = content_size(reply.content)
    if size > expected.largest:
        raise Invalid(f"{size} bytes; allowed: at most {expected.largest}")
    with _signed_by(None):
        _check_header(Header.of(reply.content), expected.header)
        key = _signer(node, reply.content, expected)
    with _signed_by(key):
        record = wire.config(reply.content)
        if wire.REFUSED in record:
            raise RefusedReply(f"refused: {printable_text(wire.value(record, wire.REFUSED, str))}")
        # Train and evaluate replies need not repeat the fingerprint; a query reply must.
        if expected.header.kind == wire.QUERY or wire.FINGERPRINT in record:
            theirs = wire.value(record, wire.FINGERPRINT, str)
            if theirs != expected.fingerprint:
                raise RefusedReply(
                    f"another model: fingerprint {printable_text(theirs[:12])}..., "
                    f"not {expected.fingerprint[:12]}..."
                )
    return key


@contextmanager
def _signed_by(key: bytes | None) -> Iterator[None]:
    """What is wrong with a content from here on is held against the key that signed it."""
    try:
        yield
    except Unused as error:
        error.key = key
        raise
    except WireError as error:
        raise Invalid(str(error), key) from error


def _check_header(theirs: Header, ours: Header) -> None:
    for name in ("federation", "run", "round", "kind"):
        got, asked = getattr(theirs, name), getattr(ours, name)
        if got != asked:
            raise Invalid(f"replayed or misdirected: {name} {str(got)[:40]!r}, asked {asked!r}")


def _signer(node: int, content: RecordDict, expected: Expected) -> bytes | None:
    if expected.keys is None:
        return None
    record = wire.config(content)
    if wire.SIGNATURE not in record:
        raise Invalid("not signed")
    key = wire.value(record, wire.PUBLIC_KEY, bytes)
    signature = wire.value(record, wire.SIGNATURE, bytes)
    if key not in expected.keys:
        raise Invalid("signed with a key that is not allowed")
    asked = expected.header
    about = (asked.federation, asked.run, asked.round, asked.kind, node, wire.digest(content))
    if not verify(key, signature, *about):
        raise Invalid("the signature is not good for this node, round and content")
    return key


def _metrics(content: RecordDict, name: str) -> MetricRecord:
    record = content.get(name)
    if not isinstance(record, MetricRecord):
        raise Invalid(f"the metric record {name!r} is missing")
    return record
