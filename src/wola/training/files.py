"""Files that are there whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path


class WriteError(OSError):
    """A file that could not be written; what stood there before is untouched."""


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file under a temporary name beside it, then renames it: a reader sees all or none.

    A full disk or a folder that may not be written to is a `WriteError`, and nothing is left
    behind.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "new" / "note.txt", b"done")
    ...     (Path(folder) / "new" / "note.txt").read_text()
    'done'
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise WriteError(error.errno, f"cannot write ({reason})", str(path)) from error
