"""SHA-256 of files and folders by their content, computed once as long as nothing changes."""

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

from wola.data.arrays import DataError
from wola.ground.folders import cache_folder

CACHE_NAME = "content.json"
ENTRIES = 500
#: A file may change twice within one tick of its clock: what is younger is not remembered.
SETTLED_NS = 2_000_000_000

#: What is known in this process: path to (what the file system said, digest).
_known: dict[str, tuple[str, str]] = {}


def content_digest(paths: Sequence[Path]) -> str:
    """SHA-256 of what files and folders hold, in the given order.

    Of a file the content counts, not its name or place; of a folder every file in it, sorted, with
    its name relative to the folder. A digest is remembered, in memory and in the data cache folder,
    as long as size, times and inode of every file stay the same.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     a, b = Path(folder, "a"), Path(folder, "b")
    ...     written = a.write_bytes(b"same"), b.write_bytes(b"same")
    ...     content_digest([a]) == content_digest([b])
    True
    """
    digests = [_path_digest(Path(path).expanduser().absolute()) for path in paths]
    return sha256("\n".join(digests).encode()).hexdigest()


def _path_digest(path: Path) -> str:
    try:
        stamp, youngest = _stamp(path)
        remembered = _remembered(str(path), stamp)
        if remembered is not None:
            return remembered
        digest = _computed(path)
        after, _ = _stamp(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    if after != stamp:
        raise DataError(f"{path} changed while it was read; expected data that stay the same")
    if youngest < time.time_ns() - SETTLED_NS:
        _remember(str(path), stamp, digest)
    return digest


def _files(path: Path) -> dict[str, Path]:
    if not path.is_dir():
        return {"": path}
    found = {}
    for folder, below, names in os.walk(path, followlinks=True, onerror=_raise):
        here = Path(folder).resolve()
        # A link to a folder above would be followed for ever.
        below[:] = [name for name in below if not here.is_relative_to((here / name).resolve())]
        for file in (Path(folder, name) for name in names):
            if file.is_file():
                found[file.relative_to(path).as_posix()] = file
    return dict(sorted(found.items()))


def _raise(error: OSError) -> None:
    raise error


def _stamp(path: Path) -> tuple[str, int]:
    lines, youngest = [], 0
    for name, file in _files(path).items():
        s = file.stat()
        lines.append(repr((name, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_dev)))
        youngest = max(youngest, s.st_mtime_ns, s.st_ctime_ns)
    return sha256("\n".join(lines).encode()).hexdigest(), youngest


def _computed(path: Path) -> str:
    whole = sha256(b"folder\n" if path.is_dir() else b"file\n")
    for name, file in _files(path).items():
        with file.open("rb") as stream:
            whole.update(json.dumps([name, file_digest(stream, "sha256").hexdigest()]).encode())
    return whole.hexdigest()


def _remembered(path: str, stamp: str) -> str | None:
    if path not in _known:
        stored = _read_cache().get(path)
        if stored is not None:
            _known[path] = stored
    known = _known.get(path)
    return known[1] if known is not None and known[0] == stamp else None


def _remember(path: str, stamp: str, digest: str) -> None:
    _known[path] = (stamp, digest)
    entries = _read_cache()
    entries.pop(path, None)
    entries[path] = (stamp, digest)
    kept = dict(list(entries.items())[-ENTRIES:])
    _write_cache(kept)


def _read_cache() -> dict[str, tuple[str, str]]:
    try:
        stored = json.loads((cache_folder() / CACHE_NAME).read_text(encoding="utf-8"))
        if stored["check"] != _check(stored["digests"]):
            return {}
        return {path: (stamp, digest) for path, (stamp, digest) in stored["digests"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write_cache(entries: dict[str, tuple[str, str]]) -> None:
    stored = {path: list(entry) for path, entry in entries.items()}
    text = json.dumps({"check": _check(stored), "digests": stored}, indent=1)
    with suppress(OSError):
        cache_folder().mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=cache_folder(), prefix=".content.", delete=False) as stream:
            temporary = Path(stream.name)
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(cache_folder() / CACHE_NAME)
        finally:
            temporary.unlink(missing_ok=True)


def _check(entries: object) -> str:
    return sha256(json.dumps(entries).encode()).hexdigest()
