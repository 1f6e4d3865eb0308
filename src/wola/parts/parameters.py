"""The parameters of a part: what a text may give, what a value must be, how it is written."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter, ValidationError

from wola.ground.names import counted, nearest
from wola.parts.grammar import Call
from wola.parts.kind import PartError


def parameters_of(factory: Any, later: tuple[str, ...] = ()) -> dict[str, inspect.Parameter]:
    """The parameters of a class or function that a text may give, with their defaults.

    The first ones are left out if `later` says that they are given by the caller.

    >>> list(parameters_of(Call))
    ['name', 'arguments']
    """
    return _parameters(factory, later)


@lru_cache(maxsize=512)
def _parameters(factory: Any, later: tuple[str, ...]) -> dict[str, inspect.Parameter]:
    try:
        signature = inspect.signature(factory, eval_str=True)
    except NameError:
        signature = inspect.signature(factory)
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = {k: p for k, p in signature.parameters.items() if p.kind not in kinds}
    if later:
        # The first ones are given by the caller, whatever they are called.
        required = [k for k, p in found.items() if p.default is inspect.Parameter.empty]
        skipped = {*later, *required[: len(later)]}
        found = {k: p for k, p in found.items() if k not in skipped}
    if is_dataclass(factory):
        for item in fields(factory):
            if item.default_factory is not MISSING and item.name in found:
                found[item.name] = found[item.name].replace(default=item.default_factory())
    return found


def bound_arguments(call: Call, known: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """The arguments of a call by the names of its parameters."""
    names, given = list(known), {}
    for place, (key, value) in enumerate(call.arguments):
        if key is None and place >= len(names):
            raise _too_many(call, names)
        name = names[place] if key is None else key
        if name not in known:
            if not names:
                raise _too_many(call, names)
            try:
                nearest(name, names)
            except ValueError as error:
                raise PartError(f"{call.name} has no parameter {name!r}; {error}") from None
        if name in given:
            raise PartError(f"{name!r} is given twice to {call.name}; allowed: once")
        given[name] = value
    missing = [k for k, p in known.items() if p.default is p.empty and k not in given]
    if missing:
        example = ", ".join(f"{k}=..." for k in missing)
        raise PartError(f"{call.name} needs {', '.join(missing)}; allowed: {call.name}({example})")
    return given


def _too_many(call: Call, names: Sequence[str]) -> PartError:
    if not names:
        return PartError(f"{call.name} takes no parameters; allowed: {call.name}")
    return PartError(
        f"{call.name} takes {counted(len(names), 'parameter')}, not {len(call.arguments)}; "
        f"allowed: {', '.join(names)}"
    )


def leaf_types(annotation: Any) -> list[Any]:
    """The types that an annotation is made of.

    >>> leaf_types(tuple[int, ...] | None)
    [<class 'int'>, Ellipsis, <class 'NoneType'>]
    """
    if get_origin(annotation) in (Union, UnionType, tuple, list, Sequence):
        return [leaf for inner in get_args(annotation) for leaf in leaf_types(inner)]
    origin = get_origin(annotation)
    return [origin if isinstance(origin, type) else annotation]


def fits_plainly(annotation: Any, value: Any) -> bool:
    """Whether a value is what the annotation says without being a part."""
    return value is None and NoneType in leaf_types(annotation)


def checked_value(owner: str, parameter: inspect.Parameter, value: Any) -> Any:
    """The value as its annotation has it; numbers are numbers, and never true or false."""
    annotation = parameter.annotation
    if annotation is parameter.empty or isinstance(annotation, str):
        return value
    try:
        adapter = TypeAdapter(annotation, config=ConfigDict(strict=True))
    except Exception:
        # An annotation of the user's own that says nothing about plain values.
        return value
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        allowed = problem["msg"].replace("Input should be ", "")
        raise PartError(f"{owner}: {parameter.name} = {value!r}; allowed: {allowed}") from None


def short_value(value: Any, annotation: Any) -> Any:
    """A float without a fraction is written as a whole number where a float is expected."""
    floats = float in leaf_types(annotation) and int not in leaf_types(annotation)
    if isinstance(value, float) and floats and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def is_default(parameter: inspect.Parameter, value: Any) -> bool:
    """Whether a value is the parameter's default, and so is never written."""
    default = parameter.default
    if default is parameter.empty or isinstance(default, bool) != isinstance(value, bool):
        return False
    try:
        return bool(default == value)
    except Exception:
        # Values of a user's own that cannot be compared, such as arrays.
        return False
