"""JSON files that carry a checksum of their own content, so that damage never passes for data."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

SEAL = "sha256"


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


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()
