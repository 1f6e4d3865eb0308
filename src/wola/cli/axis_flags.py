"""Flags for the axes of a grid: each may be given several times."""

import inspect
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args

import typer

from wola.bench.grid import Grid, GridError
from wola.cli.flags import by_topic, flag_name, topic_of
from wola.training import Scenario
from wola.training.scenario import TOPICS

_Decorated = TypeVar("_Decorated", bound=Callable[..., None])

#: The values asked for on each axis; None where a flag was not given.
Asked = Mapping[str, list[str] | None]


def axis_flags(command: _Decorated) -> _Decorated:
    """Gives a command one repeatable flag per axis, which reach it as ``**asked``."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    axes = ["strategy", *by_topic(Scenario, TOPICS)]
    full = signature.replace(parameters=[*own, *map(_parameter, axes)])
    command.__signature__ = full  # type: ignore[attr-defined]
    return command


def cut(grid: Grid, asked: Asked) -> Grid:
    """The part of the grid with these values on its axes, and with these other fields set.

    >>> grid = Grid({"dataset": "digits"}, {"seed": [1, 2, 3]})
    >>> [(s.seed, s.steps) for s in cut(grid, {"seed": ["2", "3"], "steps": ["9"]}).scenarios()]
    [(2, 9), (3, 9)]
    """
    given = {name: [_value(name, v) for v in values] for name, values in asked.items() if values}
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
    about = "A strategy: `wola list strategy`." if field is None else field.description
    option = typer.Option(
        flag_name(name),
        metavar="VALUE",
        show_default=False,
        help=f"Repeatable. {about or ''}",
        rich_help_panel="strategy" if field is None else topic_of(field),
    )
    annotation = Annotated[list[str] | None, option]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _value(name: str, text: str) -> Any:
    field = Scenario.model_fields.get(name)
    may_be_none = field is not None and NoneType in get_args(field.annotation)
    return None if may_be_none and text == "none" else text
