"""Files and folders that are there whole or not at all."""

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


class WriteError(OSError):
    """A file that could not be written; what stood there before is untouched."""


def write_whole(
    path: Path, content: bytes | Callable[[BinaryIO], object], *, sync: bool = True
) -> None:
    """Writes a file under a temporary name beside it, then renames it: a reader sees all or none.

    `content` is the bytes, or a function that writes them to the stream it is given, so that big
    arrays need not be held twice. Without `sync` the file is not forced to disk: a power cut may
    then damage it. A full disk or a folder that may not be written to is a `WriteError`, and
    nothing is left behind.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "new" / "note.txt", b"done")
    ...     (Path(folder) / "new" / "note.txt").read_text()
    'done'
    """
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
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
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise refused(error, path) from error
        raise


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
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise refused(error, draft) from error
    return draft


def move_aside(folder: Path, corner: Path) -> Path:
    """Moves a folder into another one, under its name and a suffix; where it is then."""
    target = corner / f"{folder.name}.{uuid4().hex[:8]}"
    try:
        corner.mkdir(parents=True, exist_ok=True)
        os.rename(folder, target)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise refused(error, folder) from error
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
