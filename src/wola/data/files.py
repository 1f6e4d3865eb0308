"""Finding named files in a folder or an archive, and reading them whole."""

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path, PurePosixPath

from wola.data.arrays import DataError

CHUNK = 1 << 20
DAMAGED = (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile)


@contextmanager
def reading_errors(source: Path) -> Iterator[None]:
    """Turns whatever a damaged or unreadable file raises into a :class:`DataError`."""
    try:
        yield
    except DAMAGED as error:
        raise DataError(f"{source} cannot be read, it may be truncated or damaged: {error}") from (
            error
        )


def find_files(source: Path, names: Collection[str]) -> dict[str, bytes]:
    """Those of the files called ``names`` that a folder or archive holds, by name.

    ``source`` is a folder (looked through with its subfolders, the nearest file wins), a tar or
    zip archive, or one of the files, whose folder is then meant. A file may be compressed, with
    ``.gz`` after its name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "labels.gz").write_bytes(gzip.compress(b"012"))
    ...     find_files(Path(folder), ["labels", "images"])
    {'labels': b'012'}
    """
    with reading_errors(source):
        if source.is_dir():
            return _from_folder(source, names)
        if not source.is_file():
            raise DataError(f"{source} does not exist; expected a file or a folder")
        if _plain_name(source.name) in names:
            return _from_folder(source.parent, names, deep=False)
        if tarfile.is_tarfile(source):
            return _from_tar(source, names)
        if zipfile.is_zipfile(source):
            return _from_zip(source, names)
    raise DataError(
        f"{source} is not a tar or zip archive (or is damaged); expected one, or a folder, with "
        + ", ".join(sorted(names))
    )


def require_files(source: Path, names: Collection[str]) -> dict[str, bytes]:
    """As :func:`find_files`, and a :class:`DataError` that names the files that are missing."""
    found = find_files(source, names)
    missing = [name for name in names if name not in found]
    if missing:
        raise DataError(f"{source} lacks {', '.join(missing)} (each may end in .gz)")
    return found


def check_content(name: str, content: bytes, checksum: str) -> None:
    """Compares with the SHA-256 of the official file.

    >>> check_content("a", b"", "e3b0")
    Traceback (most recent call last):
    wola.data.arrays.DataError: a is not the official file: its SHA-256 is e3b0c44298fc..., ...
    """
    found = sha256(content).hexdigest()
    if found != checksum:
        raise DataError(
            f"{name} is not the official file: its SHA-256 is {found[:12]}..., expected "
            f"{checksum[:12]}...; it is damaged or belongs to another dataset"
        )


def _plain_name(name: str) -> str:
    return PurePosixPath(name).name.removesuffix(".gz")


def _decompressed(name: str, content: bytes) -> bytes:
    return gzip.decompress(content) if name.endswith(".gz") else content


def _from_folder(folder: Path, names: Collection[str], *, deep: bool = True) -> dict[str, bytes]:
    paths = folder.rglob("*") if deep else folder.iterdir()
    found: dict[str, bytes] = {}
    for path in sorted(paths, key=lambda path: (len(path.parts), str(path))):
        name = _plain_name(path.name)
        if name in names and name not in found and path.is_file():
            with reading_errors(path):
                found[name] = _decompressed(path.name, path.read_bytes())
    return found


def _from_tar(source: Path, names: Collection[str]) -> dict[str, bytes]:
    found = {}
    with tarfile.open(source) as archive:
        for member in archive:
            name = _plain_name(member.name)
            if name in names and member.isfile():
                stream = archive.extractfile(member)
                found[name] = _decompressed(member.name, stream.read() if stream else b"")
        # A compressed archive carries its checksum at its very end, which tarfile never reads.
        while archive.fileobj is not None and archive.fileobj.read(CHUNK):
            continue
    return found


def _from_zip(source: Path, names: Collection[str]) -> dict[str, bytes]:
    with zipfile.ZipFile(source) as archive:
        return {
            _plain_name(member): _decompressed(member, archive.read(member))
            for member in archive.namelist()
            if _plain_name(member) in names
        }
