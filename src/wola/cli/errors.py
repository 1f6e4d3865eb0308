"""Errors as a user sees them: one message, an exit code, and no traceback."""

from collections.abc import Iterable
from os.path import relpath
from traceback import walk_tb

from wola.ground.names import nearest

#: What the process ends with: its surroundings failed, bad input, a run diverged, Ctrl-C.
FAULT, BAD_INPUT, DIVERGED, INTERRUPTED = 1, 2, 3, 130


class Refused(ValueError):
    """Something the user asked for cannot be done; the message says what is allowed."""


class OwnCodeFailed(RuntimeError):
    """The user's own code failed in the middle of the work; the message says where."""


#: Errors of other rooms that are the user's to mend. They are named, not imported: each room is
#: imported by the commands that need it, and one that was not cannot have raised anything.
EXPECTED = frozenset(
    {
        "wola.bench.exchange.ExchangeError",
        "wola.bench.grid.GridError",
        "wola.bench.marker.StoreError",
        "wola.bench.strategies.StrategyTaken",
        "wola.data.arrays.DataError",
        "wola.ground.sealed.Damaged",
        "wola.parts.kind.PartError",
        "wola.training.checkpoint.CheckpointError",
        "wola.training.scenario.ScenarioError",
    }
)


def is_expected(error: BaseException) -> bool:
    """Whether an error is told in one message; all others are bugs and keep their traceback.

    >>> is_expected(Refused("no")), is_expected(PermissionError()), is_expected(KeyError())
    (True, True, False)
    """
    if isinstance(error, Refused | OwnCodeFailed | OSError):
        return True
    return any(f"{kind.__module__}.{kind.__name__}" in EXPECTED for kind in type(error).__mro__)


def known(what: str, name: str, names: Iterable[str]) -> str:
    """`name` if it is one of `names`; else it is refused, with the nearest of them.

    >>> known("kind", "tea", ["tea"])
    'tea'
    """
    try:
        return nearest(name, names)
    except ValueError as error:
        raise Refused(f"{what} = {name!r}; {error}") from None


def exit_code(error: BaseException) -> int:
    """1 if the system or the user's own code failed, 2 if the input was wrong.

    >>> exit_code(PermissionError()), exit_code(Refused())
    (1, 2)
    """
    if isinstance(error, OwnCodeFailed):
        return FAULT
    reason = error if isinstance(error, OSError) else error.__cause__
    missing = isinstance(reason, FileNotFoundError) and reason is not error
    return FAULT if isinstance(reason, OSError) and not missing else BAD_INPUT


def message(error: BaseException) -> str:
    """The error in words; an operating system's error names the file first.

    >>> message(PermissionError(13, "Permission denied", "runs"))
    'runs: Permission denied'
    """
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def place_in(modules: Iterable[str], error: BaseException) -> str | None:
    """The file and line of the innermost of these modules in which an error arose, and the error.

    An error that another one was made of counts as well. None if neither passed through them.

    >>> try:
    ...     {}["a"]
    ... except KeyError as error:
    ...     place_in([__name__], error).split(", ")[1]
    "line 2: KeyError: 'a'"
    """
    names, found = set(modules), None
    for frame, line in walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__") in names:
            found = f"{_shown(frame.f_code.co_filename)}, line {line}"
    if found is not None:
        return f"{found}: {type(error).__name__}: {error}"
    reason = error.__cause__ or error.__context__
    return None if reason is None else place_in(names, reason)


def _shown(file: str) -> str:
    near = relpath(file)
    return file if near.startswith("..") else near
