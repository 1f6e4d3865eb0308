"""Flags for the axes of a grid: each may be given several times."""

import inspect
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args

import typer

from wola.bench.grid import AXES, Grid, GridError
from wola.cli.flags import flag_name
from wola.training import Scenario

Command = TypeVar("Command", bound=Callable[..., None])

Cuts = Mapping[str, list[str] | None]


def axis_flags(command: Command) -> Command:
    """Gives a command one repeatable flag per axis, which reach it as ``**cuts``."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    full = signature.replace(parameters=[*own, *map(_parameter, AXES)])
    command.__signature__ = full  # type: ignore[attr-defined]
    return command


def cut(grid: Grid, cuts: Cuts) -> Grid:
    """The part of the grid with these values on its axes, and with these other fields set.

    >>> grid = Grid({"dataset": "digits"}, {"seed": [1, 2, 3]})
    >>> [(s.seed, s.steps) for s in cut(grid, {"seed": ["2", "3"], "steps": ["9"]}).scenarios()]
    [(2, 9), (3, 9)]
    """
    given = {name: [_value(name, v) for v in values] for name, values in cuts.items() if values}
    axes = {name: values for name, values in given.items() if name in grid.axes}
    fields = {name: values for name, values in given.items() if name not in grid.axes}
    for name, values in fields.items():
        if len(values) > 1:
            raise GridError(
                f"{flag_name(name)} is given {len(values)} times; allowed: once, since {name} is "
                f"no axis of this grid, whose axes are {', '.join(grid.axes)}"
            )
    made = grid.cut(**axes)
    return made.changed(**{name: values[0] for name, values in fields.items()}) if fields else made


def _parameter(name: str) -> inspect.Parameter:
    field = Scenario.model_fields.get(name)
    about = "A strategy of the paper." if field is None else field.description
    option = typer.Option(
        flag_name(name), metavar="VALUE", show_default=False, help=f"Repeatable. {about or ''}"
    )
    annotation = Annotated[list[str] | None, option]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _value(name: str, text: str) -> Any:
    field = Scenario.model_fields.get(name)
    may_be_none = field is not None and NoneType in get_args(field.annotation)
    return None if may_be_none and text == "none" else text
