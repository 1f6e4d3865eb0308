"""Runs that travel: one file with all of them, and into another store from such a file or store.

An export is a zip archive with the files of every run as they lie in the store, so that it holds
curves as well as numbers, and checksums go with it. Nothing in it is ever executed.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wola.bench.store import FILES, Store, damage_of
from wola.ground.files import write_whole

MARKER = "wola-runs.json"
FORMAT = 1

#: The largest file of a run that is read from an archive; a run of the paper has about 100 kB.
LARGEST = 256 * 2**20

_KEY = re.compile(r"[0-9a-f]{64}")
_NOTES = ("coincidences", "strategies")
#: The same content makes the same archive, whenever it is made.
_TIME = (1980, 1, 1, 0, 0, 0)


class ExchangeError(ValueError):
    """Something that holds no runs which could be taken in, and why."""


@dataclass(frozen=True)
class Taken:
    """What became of runs that were taken in: how many are `new`, how many were `there`.

    `damaged` are left out, by key with the reason.
    """

    new: int
    there: int
    damaged: dict[str, str]


def export_runs(store: Store, keys: Sequence[str], out: Path) -> int:
    """Writes runs with their metrics into one compressed file; its size in bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        _add(archive, MARKER, json.dumps({"format": FORMAT, "runs": len(keys)}).encode())
        for key in sorted(keys):
            for name in FILES:
                _add(archive, f"runs/{key}/{name}", (store.folder(key) / name).read_bytes())
        for folder in _NOTES:
            for path in sorted((store.path / folder).glob("*.json")):
                _add(archive, f"{folder}/{path.name}", path.read_bytes())
    content = buffer.getvalue()
    write_whole(out, content)
    return len(content)


def import_runs(source: Path, store: Store) -> Taken:
    """Takes the runs of another store, or of an export, into a store; each is verified first.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as here, TemporaryDirectory() as there:
    ...     _ = export_runs(Store.open(here), [], Path(there) / "runs.zip")
    ...     import_runs(Path(there) / "runs.zip", Store.open(here))
    Taken(new=0, there=0, damaged={})
    """
    new, there, damaged = 0, 0, {}
    notes: dict[str, dict[str, bytes]] = {folder: {} for folder in _NOTES}
    for kind, name, files in _found(source):
        if kind in notes:
            notes[kind] |= files
        elif store.is_done(name):
            there += 1
        elif reason := damage_of(name, files):
            damaged[name] = reason
        else:
            store.put(name, files)
            new += 1
    for name, content in notes["coincidences"].items():
        if not (path := store.path / "coincidences" / name).exists():
            write_whole(path, content)
    for content in notes["strategies"].values():
        store.note_strategies(_strategies(content))
    return Taken(new, there, damaged)


def _strategies(content: bytes) -> Mapping[str, Mapping[str, Any]]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    tables = found.items() if isinstance(found, dict) else ()
    return {str(name): fields for name, fields in tables if isinstance(fields, dict)}


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


def _found(source: Path) -> Iterator[tuple[str, str, dict[str, bytes]]]:
    """The runs and notes of a store or an export: what it is, its name, its files."""
    if source.is_dir():
        yield from _in_store(Store.open(source, create=False))
    elif source.is_file():
        yield from _in_archive(source)
    else:
        raise ExchangeError(f"{source} does not exist; allowed: a store, or a file of its export")


def _in_store(store: Store) -> Iterator[tuple[str, str, dict[str, bytes]]]:
    for key in list(store.keys()):
        folder = store.folder(key)
        found = {name: folder / name for name in FILES}
        yield "runs", key, {k: path.read_bytes() for k, path in found.items() if path.is_file()}
    for kind in _NOTES:
        for path in sorted((store.path / kind).glob("*.json")):
            yield kind, path.name, {path.name: path.read_bytes()}


def _in_archive(path: Path) -> Iterator[tuple[str, str, dict[str, bytes]]]:
    try:
        with zipfile.ZipFile(path) as archive:
            if json.loads(archive.read(MARKER)).get("format") != FORMAT:
                raise ExchangeError(f"{path} is an export of another version; allowed: {FORMAT}")
            runs: dict[str, dict[str, zipfile.ZipInfo]] = {}
            for info in archive.infolist():
                kind, _, rest = info.filename.partition("/")
                name, _, file = rest.partition("/")
                if info.file_size > LARGEST:
                    raise ExchangeError(f"{path}: {info.filename} is too large to be a run's")
                if kind == "runs" and _KEY.fullmatch(name) and file in FILES:
                    runs.setdefault(name, {})[file] = info
                elif kind in _NOTES and re.fullmatch(r"[0-9a-z]+\.json", rest):
                    yield kind, rest, {rest: archive.read(info)}
            for key, files in runs.items():
                yield "runs", key, {name: archive.read(info) for name, info in files.items()}
    except (
        zipfile.BadZipFile,
        KeyError,
        EOFError,
        UnicodeDecodeError,
        json.JSONDecodeError,
    ) as error:
        raise ExchangeError(f"{path} is no export of runs, or is damaged: {error}") from error
