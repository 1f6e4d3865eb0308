"""What travels: the names of records and keys, vectors as arrays, and the digest of a content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, ConfigRecordValues, RecordDict
from torch import Tensor

from wola.flower.canonical_bytes import record_digest

#: Version of all that is described here; both ends must have the same.
PROTOCOL = 1

RECORD = "wola"
"""The configuration record that every message holds."""
MODEL = "model"
"""The array record from the server: `PARAMETERS` (d,), and `STATISTICS` (s,) if there are any."""
UPDATE = "update"
"""The array record of a train reply and its main array (d,); `STATISTICS` (s,) if there are any."""
LABELS = "labels"
"""The metric record of a query reply, with `DISTRIBUTION`."""
EVALUATION = "evaluation"
"""The metric record of an evaluate reply, with `ACCURACY` in percent and `LOSS`."""

PARAMETERS, STATISTICS = "parameters", "statistics"
DISTRIBUTION, ACCURACY, LOSS = "distribution", "accuracy", "loss"
FINGERPRINT, CLASSES, REFUSED, OBJECTIVE = "fingerprint", "classes", "refused", "q"
PUBLIC_KEY, SIGNATURE = "public_key", "signature"

QUERY, TRAIN, EVALUATE = "query", "train", "evaluate"
KINDS = (QUERY, TRAIN, EVALUATE)

_RUN = re.compile(r"[0-9a-f]{32}")
_MAGIC = b"\x93NUMPY\x01\x00"
_T = TypeVar("_T")


class WireError(ValueError):
    """A content that is not as agreed; the message says what is wrong with it."""


@dataclass(frozen=True)
class Header:
    """What every message says of itself: `federation`, `run` (32 hex digits), `round`, `kind`."""

    federation: str
    run: str
    round: int
    kind: str

    @classmethod
    def of(cls, content: RecordDict) -> Self:
        """The header of a content, or a `WireError`.

        >>> record = header(federation="lab", run="0" * 32, round=3, kind=TRAIN)
        >>> Header.of(RecordDict({RECORD: record})).round
        3
        """
        record = config(content)
        if (protocol := value(record, "protocol", int)) != PROTOCOL:
            raise WireError(f"protocol = {protocol}; allowed: {PROTOCOL}")
        made = cls(
            value(record, "federation", str),
            value(record, "run", str),
            value(record, "round", int),
            value(record, "kind", str),
        )
        if made.kind not in KINDS or made.round < 0 or not _RUN.fullmatch(made.run):
            raise WireError(
                f"run = {made.run[:40]!r}, round = {made.round}, kind = {made.kind[:40]!r}; "
                f"allowed: 32 hexadecimal digits, >= 0, one of {', '.join(KINDS)}"
            )
        return made

    def record(self, **fields: ConfigRecordValues) -> ConfigRecord:
        """The configuration record with this header and more fields."""
        return header(
            federation=self.federation, run=self.run, round=self.round, kind=self.kind, **fields
        )


def header(
    *, federation: str, run: str, round: int, kind: str, **fields: ConfigRecordValues
) -> ConfigRecord:
    """The configuration record `RECORD` of a message, with the fields that its kind asks for.

    >>> header(federation="lab", run="0" * 32, round=0, kind=QUERY, classes=10)["classes"]
    10
    """
    return ConfigRecord(
        {
            "protocol": PROTOCOL,
            "federation": federation,
            "run": run,
            "round": round,
            "kind": kind,
            **fields,
        }
    )


def config(content: RecordDict) -> ConfigRecord:
    """The configuration record `RECORD` of a content, or a `WireError`."""
    record = content.get(RECORD)
    if not isinstance(record, ConfigRecord):
        raise WireError(f"the configuration record {RECORD!r} is missing")
    return record


def value(record: ConfigRecord, key: str, kind: type[_T]) -> _T:
    """A field of a record that must have exactly this type, or a `WireError`.

    >>> value(header(federation="lab", run="0" * 32, round=1, kind=TRAIN), "round", float)
    Traceback (most recent call last):
    ...
    wola.flower.wire.WireError: round has type int; allowed: float
    """
    found = record.get(key)
    if type(found) is not kind:
        got = "is missing" if found is None else f"has type {type(found).__name__}"
        raise WireError(f"{key} {got}; allowed: {kind.__name__}")
    return found


def vector(record: ConfigRecord, key: str) -> list[float]:
    """A field of a record that must be a list of floats, or a `WireError`."""
    found = record.get(key)
    if not isinstance(found, list) or not all(type(entry) is float for entry in found):
        raise WireError(f"{key} is not a list of floats")
    return [float(entry) for entry in found]


def flat_array(tensor: Tensor) -> Array:
    """A vector (d,) as Flower's array: float32 on the CPU, in the order of `FlatModel`.

    >>> flat_array(torch.zeros(3, dtype=torch.float64)).dtype
    'float32'
    """
    return Array(tensor.detach().to("cpu", torch.float32).contiguous().numpy())


def model_record(parameters: Tensor, statistics: Tensor) -> ArrayRecord:
    """The array record `MODEL`: the parameters (d,), and the running statistics (s,) if s > 0.

    >>> list(model_record(torch.zeros(3), torch.zeros(0)))
    ['parameters']
    """
    return _arrays(PARAMETERS, parameters, statistics)


def update_record(update: Tensor, statistics: Tensor) -> ArrayRecord:
    """The array record `UPDATE`: the update (d,), and the client's statistics (s,) if s > 0."""
    return _arrays(UPDATE, update, statistics)


def _arrays(name: str, first: Tensor, statistics: Tensor) -> ArrayRecord:
    arrays = {name: flat_array(first)}
    if statistics.numel():
        arrays[STATISTICS] = flat_array(statistics)
    return ArrayRecord(arrays)


def array_bytes(size: int) -> int:
    """The largest number of bytes that an array of `size` float32 values may take."""
    return 4 * size + 256


def read_array(array: Array, size: int) -> Tensor:
    """The vector (size,) float32 of an array, as a copy of its own, or a `WireError`.

    The dtype, the shape and the number of bytes are compared before anything is decoded, and
    NumPy's header, which the sender also wrote, must say the same: no byte of it is interpreted.

    >>> read_array(flat_array(torch.tensor([1.0, 2.0])), 2)
    tensor([1., 2.])
    """
    if array.dtype != "float32":
        raise WireError(f"dtype {array.dtype[:20]!r}; allowed: 'float32'")
    if tuple(array.shape) != (size,):
        raise WireError(f"shape {str(tuple(array.shape))[:60]}; allowed: ({size},)")
    if array.stype != "numpy.ndarray" or len(array.data) > array_bytes(size):
        raise WireError(
            f"{len(array.data)} bytes as {array.stype[:20]!r}; allowed: at most "
            f"{array_bytes(size)} as 'numpy.ndarray'"
        )
    start = 10 + int.from_bytes(array.data[8:10], "little")
    header_text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({size},), }}".encode()
    right = array.data[:8] == _MAGIC and array.data[10:start].rstrip() == header_text
    if not right or len(array.data) != start + 4 * size:
        raise WireError(f"the bytes are not those of a vector of {size} float32 values")
    values = np.frombuffer(array.data, dtype="<f4", offset=start)
    return torch.from_numpy(values.astype(np.float32))


def read_arrays(content: RecordDict, name: str, sizes: dict[str, int]) -> dict[str, Tensor]:
    """The vectors of the array record `name`, which must hold exactly `sizes`, or a `WireError`.

    A size of 0 stands for an array that is not there; its vector is empty.

    >>> content = RecordDict({MODEL: model_record(torch.ones(2), torch.zeros(0))})
    >>> read_arrays(content, MODEL, {PARAMETERS: 2, STATISTICS: 0})[STATISTICS]
    tensor([])
    """
    record = content.get(name)
    if not isinstance(record, ArrayRecord):
        raise WireError(f"the array record {name!r} is missing")
    expected = {key for key, size in sizes.items() if size}
    if set(record) != expected:
        got = ", ".join(sorted(key[:20] for key in record)[:5]) or "nothing"
        raise WireError(f"{name} holds {got}; allowed: {', '.join(sorted(expected))}")
    return {
        key: read_array(record[key], size) if size else torch.empty(0, dtype=torch.float32)
        for key, size in sizes.items()
    }


def digest(content: RecordDict) -> bytes:
    """SHA-256 of all that a content says but its public key and signature: what is signed.

    >>> content = RecordDict({RECORD: header(federation="lab", run="0" * 32, round=1, kind=TRAIN)})
    >>> before = digest(content)
    >>> config(content)[SIGNATURE] = b"..."
    >>> before == digest(content)
    True
    """
    return record_digest(content, without={(RECORD, PUBLIC_KEY), (RECORD, SIGNATURE)})
