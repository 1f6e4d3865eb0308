"""A user's own modules: found by import path, told apart by their source, never guessed at."""

from __future__ import annotations

import ast
import importlib
import os
import sys
import sysconfig
import traceback
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any


class OwnPartError(ValueError):
    """A user's own part that cannot be had: the message says why, and where in which file."""


def imported(path: str) -> Any:
    """What the import path ``pkg.module:Name`` names.

    >>> imported("collections:OrderedDict").__name__
    'OrderedDict'
    >>> imported("nosuch.module:Name")
    Traceback (most recent call last):
    ...
    wola.parts.importing.OwnPartError: there is no module 'nosuch' (looked in the current \
folder and what is installed)
    """
    name, _, attributes = path.partition(":")
    found: Any = _module(name)
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            raise OwnPartError(f"{_place(found, name)} defines no {attribute!r}")
        found = getattr(found, attribute)
    return found


def import_path(thing: type[Any] | Any) -> str:
    """The import path of a class or function, whether others can follow it or not."""
    return f"{thing.__module__}:{thing.__qualname__}"


def importable(path: str) -> bool:
    """Whether another process finds the same thing under this import path.

    >>> importable("collections:OrderedDict"), importable("__main__:Rule")
    (True, False)
    """
    name, _, attributes = path.partition(":")
    if name in ("__main__", "__mp_main__") or "<" in attributes:
        return False
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    return spec is not None and spec.origin is not None


def source_digests(path: str) -> dict[str, str]:
    """SHA-256 of the source of a part's module and of the user's modules that it imports.

    A module of the standard library, and another one that is installed, is not a user's own.

    >>> source_digests("fractions:Fraction").keys()
    dict_keys(['fractions'])
    """
    name = path.partition(":")[0]
    # Imported, so that a process which has only been sent the text knows what the module imports.
    _module(name)
    found: dict[str, str] = {}
    waiting = [name]
    while waiting:
        module = sys.modules.get(waiting.pop())
        if module is None or module.__name__ in found or not _source_file(module):
            continue
        if module.__name__ == name or _is_own(module, name):
            file = Path(str(_source_file(module)))
            stat = file.stat()
            digest, imports = _read(file, stat.st_size, stat.st_mtime_ns, _package(module))
            found[module.__name__] = digest
            waiting += imports
    return dict(sorted(found.items()))


def where_it_failed(error: BaseException) -> str:
    """The file and line in which an error arose, and the error.

    >>> try:
    ...     {}["a"]
    ... except KeyError as error:
    ...     where_it_failed(error).split(", ")[1]
    "line 2: KeyError: 'a'"
    """
    kind = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_shown(error.filename)}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith("<frozen")]
    return f"{_shown(own[-1].filename)}, line {own[-1].lineno}: {kind}" if own else kind


def _module(name: str) -> ModuleType:
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise OwnPartError(
                f"there is no module {error.name!r} (looked in the current folder and what is "
                "installed)"
            ) from None
        raise OwnPartError(where_it_failed(error)) from error
    except Exception as error:
        # Whatever a user's module raises while it is imported is told with its place.
        raise OwnPartError(where_it_failed(error)) from error


def _place(found: Any, name: str) -> str:
    file = getattr(found, "__file__", None)
    return _shown(file) if file else name


def _shown(file: str) -> str:
    try:
        relative = os.path.relpath(file)
    except ValueError:
        return file
    return file if relative.startswith("..") else relative


def _source_file(module: ModuleType) -> str | None:
    file = getattr(module, "__file__", None)
    return file if file and file.endswith(".py") and os.path.isfile(file) else None


def _package(module: ModuleType) -> str:
    return getattr(module, "__package__", None) or ""


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(
        {os.path.realpath(paths[k]) for k in ("stdlib", "platstdlib", "purelib", "platlib")}
    )


def _is_own(module: ModuleType, part: str) -> bool:
    if module.__name__.partition(".")[0] == part.partition(".")[0]:
        return True
    file = os.path.realpath(str(module.__file__))
    ours = module.__name__.partition(".")[0] == "wola"
    return not ours and not file.startswith(tuple(f"{path}{os.sep}" for path in _installed()))


@lru_cache(maxsize=256)
def _read(file: Path, size: int, changed: int, package: str) -> tuple[str, tuple[str, ...]]:
    """The digest of a source file of this size and time, and the modules that it imports."""
    content = file.read_bytes()
    names: list[str] = []
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            base = resolve_name(relative, package) if node.level and package else node.module or ""
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    parents = [name.rpartition(".")[0] for name in names]
    return sha256(content).hexdigest(), tuple(name for name in (*names, *parents) if name)
