"""Files that carry a checksum of their own content, so that damage never passes for data."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

SEAL = "sha256"

#: What sealed bytes begin with; the checksum in hexadecimal digits and a new line follow.
MAGIC = b"wola sealed "


class Damaged(ValueError):
    """A file whose content is not what was written."""


def sealed(value: Mapping[str, Any]) -> bytes:
    """The value as one line of JSON with a checksum of the rest as its last entry.

    >>> unsealed(sealed({"accuracy": 80.4}))
    {'accuracy': 80.4}
    """
    text = json.dumps({**value, SEAL: _digest(value)}, allow_nan=False, ensure_ascii=False)
    return f"{text}\n".encode()


def unsealed(content: bytes) -> dict[str, Any]:
    """The value that was sealed; a `Damaged` if a bit of it has changed.

    >>> unsealed(sealed({"accuracy": 80.4}).replace(b"80", b"90"))
    Traceback (most recent call last):
    ...
    wola.ground.sealed.Damaged: its content is not what was written
    """
    try:
        found = json.loads(content)
        seal = found.pop(SEAL)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"it is no sealed JSON ({type(error).__name__})") from error
    if seal != _digest(found):
        raise Damaged("its content is not what was written")
    made: dict[str, Any] = found
    return made


def sealed_bytes(content: bytes) -> bytes:
    """The content after a line with its checksum.

    >>> unsealed_bytes(sealed_bytes(b"momentum"))
    b'momentum'
    """
    return b"".join((MAGIC, sha256(content).hexdigest().encode(), b"\n", content))


def unsealed_bytes(content: bytes) -> bytes:
    """The content that was sealed; a `Damaged` if a bit of it has changed.

    >>> unsealed_bytes(sealed_bytes(b"momentum")[:-1])
    Traceback (most recent call last):
    ...
    wola.ground.sealed.Damaged: its content is not what was written
    """
    start = len(MAGIC) + 65
    if not content.startswith(MAGIC) or content[start - 1 : start] != b"\n":
        raise Damaged("it does not begin with a checksum")
    found = content[start:]
    if content[len(MAGIC) : start - 1] != sha256(found).hexdigest().encode():
        raise Damaged("its content is not what was written")
    return found


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()
