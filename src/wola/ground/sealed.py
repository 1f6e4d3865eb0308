"""Files that carry a checksum of their own content, so that damage never passes for data."""

import json
import warnings
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

SEAL = "sha256"

#: What sealed bytes begin with; the checksum in hexadecimal digits and a new line follow.
MAGIC = b"wola sealed sha256 "
_HEAD_LENGTH = len(MAGIC) + 64 + 1


class Damaged(ValueError):
    """A file whose content is not what was written."""


class DamagedFile(UserWarning):
    """A damaged file that is left out, while the work goes on without it."""


def sealed(value: Mapping[str, Any], *, indent: int | None = None) -> bytes:
    """The value as JSON with a checksum of the rest as its last entry; one line without `indent`.

    >>> unsealed(sealed({"accuracy": 80.4}))
    {'accuracy': 80.4}
    """
    whole = {**value, SEAL: _digest(value)}
    return f"{json.dumps(whole, allow_nan=False, ensure_ascii=False, indent=indent)}\n".encode()


def unsealed(content: bytes) -> dict[str, Any]:
    """The value that was sealed; a `Damaged` if a bit of it has changed.

    >>> unsealed(sealed({"accuracy": 80.4}).replace(b"80", b"90"))
    Traceback (most recent call last):
    ...
    wola.ground.sealed.Damaged: its content is not what was written
    """
    try:
        found = json.loads(content)
        intact = found.pop(SEAL) == _digest(found)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"it is no sealed JSON ({type(error).__name__})") from error
    if not intact:
        raise Damaged("its content is not what was written")
    made: dict[str, Any] = found
    return made


def sealed_bytes(content: bytes) -> bytes:
    """Any content after a line with its checksum.

    >>> unsealed_bytes(sealed_bytes(b"tensors"))
    b'tensors'
    """
    return MAGIC + sha256(content).hexdigest().encode() + b"\n" + content


def unsealed_bytes(content: bytes) -> bytes:
    """The content that was sealed; a `Damaged` if a bit of it has changed.

    >>> unsealed_bytes(sealed_bytes(b"tensors")[:-1])
    Traceback (most recent call last):
    ...
    wola.ground.sealed.Damaged: its content is not what was written
    """
    body = content[_HEAD_LENGTH:]
    if not content.startswith(MAGIC):
        raise Damaged("it has no checksum")
    if content[:_HEAD_LENGTH] != sealed_bytes(body)[:_HEAD_LENGTH]:
        raise Damaged("its content is not what was written")
    return body


def read_sealed(path: Path) -> dict[str, Any]:
    """The value of a sealed JSON file; a `Damaged` that names the file if it is not as written."""
    try:
        return unsealed(path.read_bytes())
    except Damaged as error:
        raise Damaged(f"{path} is damaged: {error}") from None


def sealed_or_left_out(path: Path) -> dict[str, Any] | None:
    """The value of a sealed JSON file; None if there is none, or with a warning if it is damaged.

    >>> sealed_or_left_out(Path("no such file"))
    """
    try:
        return read_sealed(path)
    except OSError:
        return None
    except Damaged as error:
        warnings.warn(f"{error}; it is left out", DamagedFile, stacklevel=3)
        return None


def check_digest(path: Path, content: bytes, digest: object) -> bytes:
    """`content`, read from `path`, if its SHA-256 is the one that was written down.

    >>> check_digest(Path("metrics"), b"PAR1", "00")
    Traceback (most recent call last):
    ...
    wola.ground.sealed.Damaged: metrics is damaged: its content is not what was written
    """
    if sha256(content).hexdigest() != digest:
        raise Damaged(f"{path} is damaged: its content is not what was written")
    return content


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()
