"""The folders wola keeps things in outside of a project: datasets, kernels, clients' state.

Each follows a variable of the environment, or else the platform's custom for the user's files.
"""

import os
import stat
import sys
from os import PathLike
from pathlib import Path

DATA = "WOLA_DATA"
KERNELS = "WOLA_CACHE"
STATE = "WOLA_STATE"


def cache_folder() -> Path:
    """Where datasets are kept: `$WOLA_DATA`, or else the user's cache folder for wola.

    >>> cache_folder().name == Path(os.environ.get("WOLA_DATA", "wola")).name
    True
    """
    return Path(os.environ.get(DATA) or _user_cache()).expanduser()


def kernel_folder() -> Path:
    """Where compiled kernels are kept: in `$WOLA_CACHE`, or else the user's cache folder for wola.

    >>> kernel_folder().name
    'kernels'
    """
    return Path(os.environ.get(KERNELS) or _user_cache()).expanduser() / "kernels"


def state_folder(given: str | PathLike[str] | None = None) -> Path:
    """Where a client keeps its state: the folder given, `$WOLA_STATE`, or the user's for wola.

    >>> state_folder("here").name
    'here'
    """
    return Path(given or os.environ.get(STATE) or _user_state()).expanduser()


def is_ours_alone(folder: Path) -> bool:
    """Whether a folder is this user's, may be written to, and by nobody else.

    Where a system has no such owners, every folder that may be written to is.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as made:
    ...     is_ours_alone(Path(made))
    True
    """
    try:
        found = folder.stat()
    except OSError:
        return False
    writable = stat.S_ISDIR(found.st_mode) and os.access(folder, os.W_OK | os.X_OK)
    if not hasattr(os, "geteuid"):
        return writable
    others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return writable and found.st_uid == os.geteuid() and not others


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "wola"
    if sys.platform == "win32":
        return _local_data() / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wola"


def _user_state() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "wola"
    if sys.platform == "win32":
        return _local_data()
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "wola"


def _local_data() -> Path:
    # Windows keeps a program's files under its author's name; wola's author is wola.
    base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    return Path(base) / "wola" / "wola"
