"""From an object to the text of a part: its name or import path, and what is no default."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import FunctionType, NoneType
from typing import Any

from wola.parts.grammar import Call, written
from wola.parts.importing import import_path, importable
from wola.parts.kind import Kind, PartError, Prepared
from wola.parts.parameters import fits_plainly, is_default, leaf_types, parameters_of, short_value

#: What may stand before a part of a kind, joined to it by ``+``.
BEFORE = {"aggregator": "mixing"}

_PLAIN = (bool, int, float, str, NoneType)


def kind_for(annotation: Any, kinds: Mapping[str, Kind]) -> str | None:
    """The kind of part that an annotation asks for, by name; None if for none."""
    classes = [c for c in leaf_types(annotation) if isinstance(c, type) and c not in _PLAIN]
    for kind in kinds.values():
        if kind.base != (object,) and any(c in kind.base for c in classes):
            return kind.name
    return None


def members(part: Any) -> Sequence[Any]:
    """The parts of a chain of mixings, one by one; any other part alone."""
    found: Sequence[Any] = getattr(part, "mixings", (part,))
    return found


class Describer:
    """Gives objects their texts, for the kinds of one catalogue."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self.kinds = kinds
        self._of = {id(thing): (k.name, n) for k in kinds.values() for n, thing in k.names.items()}

    def chain(self, kind: Kind, part: Any) -> tuple[str, bool]:
        """The text of an object of several parts, and whether it stands in this process alone."""
        if part is None and kind.none:
            return "none", False
        described = [self._describe(kind, member) for member in members(part)]
        return "+".join(text for text, _ in described), any(here for _, here in described)

    def _describe(self, kind: Kind, part: Any) -> tuple[str, bool]:
        """The text of an object, and whether it stands in this process alone."""
        if isinstance(part, type | FunctionType):
            if not kind.functions and not isinstance(part, type):
                raise PartError(f"a function is no {kind.name}; {kind.allowed()}")
            return self._path(kind, part)
        if isinstance(part, Prepared):
            name, here = self._path(kind, part.factory)
            return written(Call(name, tuple(part.arguments.items()))), here
        if kind.base == (object,) or not isinstance(part, kind.base):
            raise PartError(f"a {type(part).__name__} is no {kind.name}; {kind.allowed()}")
        name, here = self._path(kind, type(part))
        arguments: list[tuple[str, Any]] = []
        for key, parameter in parameters_of(type(part)).items():
            if key in kind.later:
                continue
            if not hasattr(part, key):
                raise PartError(
                    f"{type(part).__name__} keeps no attribute {key!r} for its parameter; allowed: "
                    f"a dataclass, or its text {name}({key}=...)"
                )
            value = getattr(part, key)
            if not is_default(parameter, value):
                text, hidden = self._described_value(parameter, value)
                arguments.append((key, text))
                here = here or hidden
        return written(Call(name, tuple(arguments))), here

    def _described_value(self, parameter: inspect.Parameter, value: Any) -> tuple[Any, bool]:
        inner = kind_for(parameter.annotation, self.kinds)
        if inner is None or fits_plainly(parameter.annotation, value):
            return short_value(value, parameter.annotation), False
        if isinstance(value, tuple):
            found = [self._described_value(parameter, one) for one in value]
            return tuple(text for text, _ in found), any(hidden for _, hidden in found)
        members = [*getattr(value, "mixings", ()), getattr(value, "rule", value)]
        if len(members) == 1 or inner not in BEFORE:
            return self._describe(self.kinds[inner], value)
        kinds = [self.kinds[BEFORE[inner]]] * (len(members) - 1) + [self.kinds[inner]]
        found = [self._describe(k, member) for k, member in zip(kinds, members, strict=True)]
        return "+".join(text for text, _ in found), any(hidden for _, hidden in found)

    def _path(self, kind: Kind, thing: Any) -> tuple[str, bool]:
        owner, name = self._of.get(id(thing), ("", ""))
        if owner == kind.name:
            return name, False
        path = import_path(thing)
        return path, not importable(path)
