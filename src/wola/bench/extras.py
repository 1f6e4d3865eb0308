"""Libraries that only parts of the benchmark need."""

from importlib import import_module
from typing import Any


class MissingExtra(ImportError):
    """A library that is not installed; the message names the extra that brings it."""


class TrackerRefused(RuntimeError):
    """A tracker that is installed and cannot be used; the message says why and what is allowed."""


def needed(module: str, *, extra: str, what: str) -> Any:
    """The module, or an error that says how to install it.

    >>> needed("no_such_module", extra="cluster", what="--cluster")
    Traceback (most recent call last):
    ...
    wola.bench.extras.MissingExtra: --cluster needs no_such_module: pip install 'wola[cluster]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0] if extra not in module else extra
        raise MissingExtra(f"{what} needs {name}: pip install 'wola[{extra}]'") from error
