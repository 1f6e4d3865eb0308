"""Compiling kernels, and keeping what was compiled only where nobody else can put code."""

import os
import warnings
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from wola.ground.folders import is_ours_alone, kernel_folder

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


class UnsafeCache(UserWarning):
    """A folder for compiled code that somebody else could write to, and so is not used."""


def compiled(kernel: _Kernel, *, fastmath: Set[str] = frozenset(), kept: bool = True) -> _Kernel:
    """The kernel compiled by numba: serial, without the interpreter lock, NumPy's division.

    With `kept` the compiled form is kept on disk: in ``NUMBA_CACHE_DIR`` if it is set, else beside
    the source, else in the folder of kernels. What is kept is executed when it is found again, so
    a folder counts only if it is the user's and nobody else may write to it. Where there is none
    the kernel is compiled in memory, each time anew.
    """
    options = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath) or False}
    jit: Any = partial(numba.njit, **options)
    place = cache_place(Path(kernel.__code__.co_filename)) if kept else None
    if place is not None:
        with suppress(RuntimeError), _kept_in(place):  # Raised if numba cannot use it after all.
            return cast(_Kernel, jit(kernel, cache=True))
    return cast(_Kernel, jit(kernel, cache=False))


@contextmanager
def _kept_in(place: str) -> Iterator[None]:
    # Read by numba when a kernel is decorated; empty means beside the source.
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, place
    try:
        yield
    finally:
        config.CACHE_DIR = before


def cache_place(source: Path) -> str | None:
    """Where the compiled form of a source is kept: a folder, "" for beside it, None for nowhere."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return chosen if _usable(Path(chosen)) else None
    beside = source.parent / "__pycache__"
    if is_ours_alone(beside if beside.exists() else source.parent):
        return ""
    folder = usable_kernel_folder()
    return None if folder is None else str(folder / "package")


def usable_kernel_folder() -> Path | None:
    """The folder of kernels, made if it is missing; None if there can be none, or it is unsafe."""
    try:
        folder = kernel_folder()
    except RuntimeError:  # There is no home.
        return None
    return folder if _usable(folder) else None


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    if is_ours_alone(folder):
        return True
    if os.access(folder, os.W_OK):
        _warn_once(folder)
    return False


@cache
def _warn_once(folder: Path) -> None:
    text = f"{folder} may be written to by others, so no compiled code is kept there: chmod go-w"
    warnings.warn(text, UnsafeCache, stacklevel=4)
