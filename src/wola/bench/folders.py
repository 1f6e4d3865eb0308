"""Folders that appear whole or not at all."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from wola.training import WriteError


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
