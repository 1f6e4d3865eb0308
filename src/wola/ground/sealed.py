"""Files that carry a checksum of their own content, so that damage never passes for data."""

import json
import warnings
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic_core import from_json

SEAL = "sha256"

#: What sealed bytes begin with; the checksum in hexadecimal digits and a new line follow.
MAGIC = b"wola sealed sha256 "
_HEAD_LENGTH = len(MAGIC) + 64 + 1


class Damaged(ValueError):
    """A file whose content is not what was written."""


class DamagedFile(UserWarning):
    """A damaged file that is left out, while the work goes on without it."""


def sealed(value: Mapping[str, Any], *, indent: int | None = None) -> bytes:
    """The value as JSON with a checksum of the rest as its last entry.

    Without `indent` it is one line with sorted names, just as the checksum sees it, and is checked
    without being written again.

    >>> unsealed(sealed({"accuracy": 80.4}))
    {'accuracy': 80.4}
    """
    if indent is not None:
        whole = {**value, SEAL: _digest(_line(value))}
        return f"{json.dumps(whole, allow_nan=False, ensure_ascii=False, indent=indent)}\n".encode()
    line = _line(value)
    return line[:-1] + _last_entry(line) + b"\n"


def unsealed(content: bytes) -> dict[str, Any]:
    """The value that was sealed; a `Damaged` if a bit of it has changed.

    >>> unsealed(sealed({"accuracy": 80.4}).replace(b"80", b"90"))
    Traceback (most recent call last):
    ...
    wola.ground.sealed.Damaged: its content is not what was written
    """
    try:
        found = from_json(content)
        seal = found.pop(SEAL)
        intact = _is_sealed_line(content) or seal == _digest(_line(found))
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


def _line(value: Mapping[str, Any]) -> bytes:
    """The value as the checksum sees it."""
    text = json.dumps(
        value, allow_nan=False, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    return text.encode()


def _digest(line: bytes) -> str:
    return sha256(line).hexdigest()


def _last_entry(line: bytes) -> bytes:
    """What takes the place of the brace that ends a line."""
    return f'{"," if len(line) > 2 else ""}"{SEAL}":"{_digest(line)}"}}'.encode()


def _is_sealed_line(content: bytes) -> bool:
    """Whether this is one line that ends in a checksum of what is before it."""
    begin, mark, _ = content.rpartition(b'"' + SEAL.encode() + b'":')
    line = begin.removesuffix(b",") + b"}"
    return bool(mark) and content == line[:-1] + _last_entry(line) + b"\n"
