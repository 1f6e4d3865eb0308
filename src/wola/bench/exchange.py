"""Runs that travel: one file with all of them, and into another store from such a file or store.

An export is a zip archive with the files of every run as they lie in the store, so that it holds
curves as well as numbers. Its first entry lists all others with their checksums, and carries its
own. Nothing in it is ever executed.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from wola.bench.coincidence import coincidences_in
from wola.bench.run_files import FILES, damage_of
from wola.bench.store import Store
from wola.bench.strategies import strategies_in
from wola.ground.files import write_whole
from wola.ground.sealed import Damaged, sealed, unsealed

MARKER = "wola-runs.json"
FORMAT = 2

#: The largest file of a run that is read from an archive; a run of the paper has about 100 kB.
LARGEST = 256 * 2**20

_RUN = re.compile(r"runs/([0-9a-f]{64})/[a-z.]+")
_NOTE = re.compile(r"(coincidences|strategies)/([0-9a-z]+\.json)")
_NOTES = ("coincidences", "strategies")

#: What reading a damaged archive may raise.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
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
    places = [(f"runs/{key}/{name}", store.folder(key) / name) for key in keys for name in FILES]
    for folder in _NOTES:
        for path in (store.path / folder).glob("*.json"):
            places.append((f"{folder}/{path.name}", path))
    files = {name: path.read_bytes() for name, path in sorted(places)}
    listed = {name: sha256(content).hexdigest() for name, content in files.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        _add(archive, MARKER, sealed({"format": FORMAT, "files": listed}))
        for name, content in files.items():
            _add(archive, name, content)
    write_whole(out, buffer.getvalue())
    return len(buffer.getvalue())


def import_runs(source: Path, store: Store) -> Taken:
    """Takes the runs of another store, or of an export, into a store; each is verified first.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as here, TemporaryDirectory() as there:
    ...     _ = export_runs(Store.open(here), [], Path(there) / "runs.zip")
    ...     import_runs(Path(there) / "runs.zip", Store.open(here))
    Taken(new=0, there=0, damaged={})
    """
    new, there = 0, 0
    damaged: dict[str, str] = {}
    for kind, name, files in _found(source):
        try:
            if kind == "coincidences":
                _take_coincidences(name, files[name], store)
            elif kind == "strategies":
                store.note_strategies(strategies_in(unsealed(files[name])))
            elif store.is_done(name):
                there += 1
            elif reason := damage_of(name, files):
                damaged[name] = reason
            else:
                store.put(name, files)
                new += 1
        except Damaged as error:
            damaged[f"{kind}/{name}"] = f"{kind}/{name} is damaged: {error}"
        except KeyError:
            damaged[f"{kind}/{name}"] = f"{kind}/{name} is damaged, or is missing"
    return Taken(new, there, damaged)


def _take_coincidences(name: str, content: bytes, store: Store) -> None:
    coincidences_in(name, content)
    if not (path := store.path / "coincidences" / name).exists():
        write_whole(path, content)


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
            marker = unsealed(_read(archive, MARKER))
            if marker.get("format") != FORMAT:
                raise ExchangeError(f"{path} is an export of another version; allowed: {FORMAT}")
            listed = dict(marker["files"])
            for name in listed:
                if found := _NOTE.fullmatch(name):
                    yield found[1], found[2], _whole(archive, listed, {found[2]: name})
            for key in dict.fromkeys(found[1] for found in map(_RUN.fullmatch, listed) if found):
                names = {file: f"runs/{key}/{file}" for file in FILES}
                yield "runs", key, _whole(archive, listed, names)
    except ExchangeError:
        raise
    except _UNREADABLE as error:
        raise ExchangeError(f"{path} is no export of runs, or is damaged: {error}") from error


def _whole(
    archive: zipfile.ZipFile, listed: Mapping[str, str], names: Mapping[str, str]
) -> dict[str, bytes]:
    """The files whose content is the one that is listed; the others are left out."""
    made = {}
    for file, name in names.items():
        with suppress(*_UNREADABLE):
            content = _read(archive, name)
            if sha256(content).hexdigest() == listed.get(name):
                made[file] = content
    return made


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.file_size > LARGEST:
        raise ExchangeError(f"{archive.filename}: {name} is too large to be a run's")
    return archive.read(info)
