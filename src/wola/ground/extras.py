"""Libraries that only some parts need, and the extras of the package that bring them."""

from importlib import import_module
from typing import Any


class MissingExtra(ImportError):
    """A library that is not installed; the message names the extra that brings it."""


def needed(module: str, *, extra: str, what: str) -> Any:
    """The module, or an error that says how to install it.

    >>> needed("no_such_module", extra="cluster", what="--cluster")
    Traceback (most recent call last):
    ...
    wola.ground.extras.MissingExtra: --cluster needs no_such_module: pip install 'wola[cluster]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0] if extra not in module else extra
        raise missing(name, extra=extra, what=what) from error


def missing(name: str, *, extra: str, what: str) -> MissingExtra:
    """The error that says what needs a library, and how to install it."""
    return MissingExtra(f"{what} needs {name}: pip install 'wola[{extra}]'")
