"""Contents as bytes that are the same wherever they are made: what digests are taken of."""

import struct
from collections.abc import Collection, Iterator
from hashlib import sha256

from flwr.app import Array, RecordDict


def length_prefixed(*parts: bytes) -> bytes:
    """The parts, each after its length in 8 bytes: no two lists of parts give the same bytes.

    >>> length_prefixed(b"ab", b"") == length_prefixed(b"a", b"b")
    False
    """
    return b"".join(_length(part) + part for part in parts)


def record_digest(content: RecordDict, *, without: Collection[tuple[str, str]] = ()) -> bytes:
    """SHA-256 of all that a content says, save for these pairs of a record and a key.

    Records and keys are taken in the order of their names; of arrays dtype, shape and raw bytes,
    of numbers the type and all bits.

    >>> from flwr.app import ConfigRecord
    >>> one, other = RecordDict({"a": ConfigRecord({"x": 1})}), RecordDict()
    >>> record_digest(one) == record_digest(other)
    False
    """
    hashed = sha256()
    for part in _parts(content, without):
        hashed.update(_length(part))
        hashed.update(part)
    return hashed.digest()


def _length(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big")


def _parts(content: RecordDict, without: Collection[tuple[str, str]]) -> Iterator[bytes]:
    for name in sorted(content):
        record = content[name]
        keys = [key for key in sorted(record) if (name, key) not in without]
        yield from (type(record).__name__.encode(), _text(name), str(len(keys)).encode())
        for key in keys:
            yield _text(key)
            entry = record[key]
            if isinstance(entry, Array):
                shape = repr(tuple(entry.shape)).encode()
                yield from (_text(entry.dtype), shape, _text(entry.stype), entry.data)
            elif isinstance(entry, list):
                yield f"list {len(entry)}".encode()
                yield from map(_scalar, entry)
            else:
                yield _scalar(entry)


def _scalar(entry: bool | int | float | str | bytes) -> bytes:
    kind = type(entry).__name__.encode() + b" "
    if isinstance(entry, bytes):
        return kind + entry
    if isinstance(entry, float):
        return kind + struct.pack(">d", entry)
    return kind + _text(str(entry))


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
