"""Folders that nobody but their owner can look into."""

import logging
import os
import stat
from pathlib import Path

_LOG = logging.getLogger(__name__)


class SharedFolderError(ValueError):
    """A folder that others can look into, and that cannot be made private."""


def make_private(folder: Path) -> None:
    """Makes the folder if it is not there, and takes from others what they may do in it.

    Momenta, and the true counts behind a report, are as private as the data. A folder of another
    user, or one that is made to be shared (as /tmp is), is a `SharedFolderError` if others can look
    into it.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     make_private(Path(folder) / "state")
    ...     oct((Path(folder) / "state").stat().st_mode & 0o777)
    '0o700'
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name != "posix":
        return
    about = folder.stat()
    mode = stat.S_IMODE(about.st_mode)
    if not mode & 0o077:
        return
    if about.st_uid != os.geteuid() or mode & stat.S_ISVTX:
        raise SharedFolderError(
            f"state = {str(folder)!r} has mode {mode:04o} and belongs to user {about.st_uid}; "
            "allowed: a folder of your own that nobody else can look into"
        )
    folder.chmod(0o700)
    _LOG.warning("%s had mode %04o, so others could look into it: now 0700", folder, mode)
