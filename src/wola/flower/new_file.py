"""Files that must not be there yet, as those of keys and certificates."""

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from wola.ground.files import write_whole


def write_new(path: Path, content: bytes, *, secret: bool) -> None:
    """Writes a file that must not be there yet; a secret one only its owner can read.

    A file that is there already is a `FileExistsError`, and stays as it is.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_new(Path(folder) / "key", b"private", secret=True)
    ...     oct((Path(folder) / "key").stat().st_mode & 0o777)
    '0o600'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = 0o600 if secret else 0o644
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise


def write_once(path: Path, content: bytes) -> bool:
    """Writes a whole file unless there is one; whether it was this call that wrote it.

    Of several processes that try at once exactly one writes, and no reader sees half a file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report"
    ...     write_once(path, b"first"), write_once(path, b"second"), path.read_bytes()
    (True, False, b'first')
    """
    draft = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        write_whole(draft, content)
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    return True
