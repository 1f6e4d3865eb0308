"""Flags for the fields of a pydantic model: the same names, types, meanings and defaults."""

import inspect
from collections.abc import Callable, Collection, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wola.cli.errors import known

_Decorated = TypeVar("_Decorated", bound=Callable[..., None])

_METAVARS = {int: "INTEGER", float: "NUMBER", str: "TEXT"}


def flag_name(field: str) -> str:
    """The flag of a field.

    >>> flag_name("evaluate_every")
    '--evaluate-every'
    """
    return "--" + field.replace("_", "-")


def topic_of(field: FieldInfo) -> str | None:
    """The topic under which the help lists a field, if it has one."""
    extra = field.json_schema_extra
    return str(extra["topic"]) if isinstance(extra, dict) and "topic" in extra else None


def by_topic(model: type[BaseModel], topics: Collection[str]) -> list[str]:
    """The fields of a model, topic by topic; within one, as the model has them.

    >>> from wola.training.scenario import TOPICS, Scenario
    >>> by_topic(Scenario, TOPICS)[:3]
    ['dataset', 'inputs', 'augment']
    """
    order = {name: place for place, name in enumerate(topics)}
    fields = model.model_fields
    return sorted(fields, key=lambda name: order.get(topic_of(fields[name]) or "", len(order)))


def field_flags(
    model: type[BaseModel],
    *,
    only: Collection[str] | None = None,
    settled_later: Mapping[str, str] | None = None,
    metavars: Mapping[str, str] | None = None,
) -> Callable[[_Decorated], _Decorated]:
    """Gives a command one flag per field of the model, which reach it as ``**fields``.

    A flag that is not given is None, and `given` turns the rest into values of the model. ``only``
    names the fields that get a flag, in their order; ``settled_later`` says in words where the
    default of a field comes from that is not the model's own; ``metavars`` says what stands for
    the value of a field where its type does not say enough.
    """
    notes, words = settled_later or {}, metavars or {}
    names = model.model_fields if only is None else only

    def decorate(command: _Decorated) -> _Decorated:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        made = [_parameter(n, model.model_fields[n], notes.get(n), words.get(n)) for n in names]
        full = signature.replace(parameters=[*own, *made])
        command.__signature__ = full  # type: ignore[attr-defined]
        return command

    return decorate


def given(model: type[BaseModel], fields: Mapping[str, str | bool | None]) -> dict[str, Any]:
    """The fields that were given; "none" stands for None where a field may be None.

    >>> class Tea(BaseModel):
    ...     kind: Literal["green", "black"] = "green"
    ...     sugar: int | None = 1
    >>> given(Tea, {"kind": None, "sugar": "none"})
    {'sugar': None}
    >>> given(Tea, {"kind": "grene", "sugar": None})
    Traceback (most recent call last):
    ...
    wola.cli.errors.Refused: --kind = 'grene'; did you mean 'green'? allowed: green, black
    """
    made: dict[str, Any] = {}
    for name, value in fields.items():
        if value is None:
            continue
        kinds = _kinds(model.model_fields[name].annotation)
        choices = _choices(kinds)
        if choices:
            known(flag_name(name), str(value), choices)
        made[name] = None if NoneType in kinds and value == "none" else value
    return made


def _parameter(
    name: str, field: FieldInfo, note: str | None, metavar: str | None
) -> inspect.Parameter:
    kinds = _kinds(field.annotation)
    flag = flag_name(name)
    default = note or ("none" if field.default is None else str(field.default))
    shown: dict[str, Any] = {
        "help": f"{field.description} (default: {default})",
        "show_default": False,
        "rich_help_panel": topic_of(field),
    }
    annotation: Any
    if bool in kinds:
        off = f"--no-{flag.removeprefix('--')}"
        annotation = Annotated[bool | None, typer.Option(f"{flag}/{off}", **shown)]
    else:
        usual = "|".join(_choices(kinds)) or next(_METAVARS[k] for k in kinds if k is not NoneType)
        annotation = Annotated[str | None, typer.Option(flag, metavar=metavar or usual, **shown)]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _kinds(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _choices(kinds: tuple[Any, ...]) -> tuple[str, ...]:
    literals = [kind for kind in kinds if get_origin(kind) is Literal]
    return tuple(str(choice) for kind in literals for choice in get_args(kind))
