"""Whether a folder can be written to, before hours of work go into what is to be written."""

import os
from pathlib import Path

from wola.cli.errors import Refused


def check_output(folder: Path, flag: str = "--out") -> None:
    """Refuses a folder that is a file, lies below one, or may not be written to; writes nothing.

    >>> check_output(Path(__file__), "--out")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    wola.cli.errors.Refused: --out = '...output_folder.py' is a file; allowed: a folder
    """
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        what = "is" if there == folder else f"lies below {str(there)!r},"
        raise Refused(f"{flag} = {str(folder)!r} {what} a file; allowed: a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        what = "" if there == folder else f" cannot be made: {str(there)!r}"
        raise Refused(
            f"{flag} = {str(folder)!r}{what} may not be written to; allowed: another folder"
        )
