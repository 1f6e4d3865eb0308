"""Files and folders that are there whole or not at all."""

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from errno import EINVAL, ENOTSUP
from pathlib import Path
from time import time
from typing import BinaryIO
from uuid import uuid4

#: Seconds after which something half-written that nobody has finished counts as abandoned.
ABANDONED = 3600.0

_TEMPORARY = ".tmp"
#: What file systems say that cannot force a folder to disk.
_NO_FOLDERS = (EINVAL, ENOTSUP)


class WriteError(OSError):
    """A file that could not be written; what stood there before is untouched."""


def write_whole(
    path: Path, content: bytes | Callable[[BinaryIO], object], *, sync: bool = True
) -> None:
    """Writes a file under a temporary name beside it, then renames it: a reader sees all or none.

    `content` is the bytes, or a function that writes them to the stream it is given, so that big
    arrays need not be held twice. The file and its name are forced to disk, and survive a power
    cut; without `sync` they are not, which may then damage or lose it. A full disk or a folder that
    may not be written to is a `WriteError`, and nothing is left behind.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "new" / "note.txt", b"done")
    ...     (Path(folder) / "new" / "note.txt").read_text()
    'done'
    """
    temporary = path.with_name(f".{path.name}.{uuid4().hex}{_TEMPORARY}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as stream:
            if isinstance(content, bytes):
                stream.write(content)
            else:
                content(stream)
            if sync:
                stream.flush()
                os.fsync(stream.fileno())
        os.replace(temporary, path)
        if sync:
            _sync_folder(path.parent)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise refused(error, path) from error
        raise


def _sync_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # A system, or a folder, that does not let folders be opened.
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDERS:
            raise
    finally:
        os.close(descriptor)


def age_of(path: Path) -> float:
    """Seconds since a file or folder was changed; none if it is gone.

    >>> age_of(Path("no such file"))
    0.0
    """
    with suppress(OSError):
        return time() - path.stat().st_mtime
    return 0.0


def clear_leftovers(folder: Path, *, older_than: float = ABANDONED) -> int:
    """Removes what `write_whole` left half-written in a folder when it was killed; how many files.

    Young ones stay: somebody may be writing them.

    >>> clear_leftovers(Path("no such folder"))
    0
    """
    left = [p for p in folder.glob(f".*{_TEMPORARY}") if age_of(p) > older_than]
    for path in left:
        with suppress(OSError):
            path.unlink(missing_ok=True)
    return len(left)


def draft_folder(parent: Path, name: str, files: Mapping[str, bytes]) -> Path:
    """A folder of these files under a name that nobody else has, to be renamed into place.

    A full disk, or a parent that may not be written to, is a `WriteError`, and nothing stays
    behind. The files are not forced to disk, which would take longer than all else: after a power
    cut a run may be damaged, and checksums tell.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as parent:
    ...     made = draft_folder(Path(parent) / "drafts", "run", {"note.txt": b"done"})
    ...     made.name.startswith("run."), (made / "note.txt").read_text()
    (True, 'done')
    """
    draft = parent / f"{name}.{uuid4().hex}"
    try:
        draft.mkdir(parents=True)
        for file, content in files.items():
            (draft / file).write_bytes(content)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise refused(error, draft) from error
        raise
    return draft


def move_aside(place: Path, corner: Path) -> Path:
    """Moves a file or folder into a folder, under its name and a suffix; where it is then."""
    target = corner / f"{place.name}.{uuid4().hex[:8]}"
    try:
        corner.mkdir(parents=True, exist_ok=True)
        os.rename(place, target)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise refused(error, place) from error
    return target


def remove_file(path: Path) -> None:
    """Takes a file away, if it is there; one that may not be taken away is a `WriteError`."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise refused(error, path) from error


def refused(error: OSError, path: Path) -> WriteError:
    """What the system refused, as an error that names the place.

    >>> str(refused(OSError(28, "No space left on device"), Path("runs")))
    "[Errno 28] cannot write (No space left on device): 'runs'"
    """
    return WriteError(error.errno, f"cannot write ({error.strerror or error})", str(path))
