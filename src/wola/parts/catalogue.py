"""The one place that turns the text of a part into the part, and a part into its text."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import lru_cache
from types import FunctionType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter, ValidationError

from wola.ground.names import counted, nearest
from wola.parts.grammar import Call, GrammarError, parse, written
from wola.parts.importing import (
    OwnPartError,
    import_path,
    importable,
    imported,
    source_digests,
    where_it_failed,
)
from wola.parts.kind import Kind, PartError, Unimportable

_PLAIN = (bool, int, float, str, NoneType)


@dataclass(frozen=True)
class Prepared:
    """A function or class with some of its arguments: called later, with the rest of them."""

    factory: Any
    arguments: Mapping[str, Any]

    def __call__(self, *args: Any, **more: Any) -> Any:
        """What the factory makes."""
        return self.factory(*args, **{**self.arguments, **more})


class Catalogue:
    """Kinds of parts by name. `settle` gives the one text of a part, `make` the part itself.

    >>> from fractions import Fraction
    >>> parts = Catalogue([Kind("number", {"fraction": Fraction}, (Fraction,))])
    >>> parts.make("number", "fraction(1, 2)")
    Fraction(1, 2)
    >>> parts.settle("number", "frction(1)")
    Traceback (most recent call last):
    ...
    wola.parts.kind.PartError: number = 'frction(1)'; did you mean 'fraction'? allowed: \
fraction, or pkg.module:Name
    """

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self.kinds = {kind.name: kind for kind in kinds}
        self._of = {
            id(thing): (k.name, n) for k in self.kinds.values() for n, thing in k.names.items()
        }
        self._settled = lru_cache(maxsize=4096)(self._settle_text)

    def settle(self, kind: str, given: Any, field: str | None = None) -> str:
        """The one text of a part: parameters by key, in their order, without the defaults.

        `given` is a text, or the part itself. An object that other processes cannot import keeps
        its place in the text: see `Unimportable`. `field` is what an error calls the argument.
        """
        known, name = self.kinds[kind], field or kind
        if isinstance(given, Unimportable):
            return given
        try:
            if isinstance(given, str):
                return self._settled(kind, given)
            if text := known.opaque(given):
                return Unimportable(text, given)
            text, here = self._describe_chain(known, given)
            return Unimportable(text, given) if here else self._settled(kind, text)
        except (GrammarError, OwnPartError, PartError) as error:
            shown = given if isinstance(given, str) else repr(given)
            raise PartError(f"{name} = {shown!r}; {error}") from error.__cause__

    def make(self, kind: str, text: str, **later: Any) -> Any:
        """The part that a settled text stands for; None for "none", a tuple of parts for a chain.

        `later` holds the arguments that come from elsewhere, for parts that take them.
        """
        known = self.kinds[kind]
        if isinstance(text, Unimportable):
            return _members(text.value) if known.chain else text.value
        if _is_none(known, text):
            return () if known.chain else None
        made = tuple(self._build(known, call, later)[0] for call in parse(text))
        return made if known.chain else made[0]

    def texts(self, kind: str, text: str) -> list[str]:
        """The settled texts of the parts of a chain, one by one."""
        return [] if _is_none(self.kinds[kind], text) else [written(call) for call in parse(text)]

    def takes(self, kind: str, text: str, parameter: str) -> bool:
        """Whether the part of a settled text has a parameter of this name."""
        if isinstance(text, Unimportable):
            return parameter in _parameters(_class_of(text.value), ())
        (call,) = parse(text)
        factory = imported(call.name) if call.own else self.kinds[kind].names[call.name]
        return parameter in _parameters(factory, ())

    def content(self, kind: str, text: str) -> dict[str, str]:
        """SHA-256 of the sources of the user's own modules that a settled text names."""
        if isinstance(text, Unimportable) or ":" not in text:
            return {}
        found: dict[str, str] = {}
        for call in parse(text):
            if call.own:
                found |= source_digests(call.name)
            for _, value in call.arguments:
                if isinstance(value, str) and ":" in value:
                    found |= self._nested_content(value)
        return found

    def _nested_content(self, value: str) -> dict[str, str]:
        try:
            calls = parse(value)
        except GrammarError:
            return {}
        own = [call for call in calls if call.own and importable(call.name)]
        return {k: v for call in own for k, v in source_digests(call.name).items()}

    def _settle_text(self, kind: str, text: str) -> str:
        known = self.kinds[kind]
        if _is_none(known, text.strip()):
            return "none"
        calls = parse(text)
        if len(calls) > 1 and not known.chain:
            raise PartError(f"{len(calls)} parts are joined; allowed: one {kind}")
        settled = []
        for call in calls:
            if call.own and not importable(call.name):
                module = call.name.partition(":")[0]
                raise PartError(f"module {module!r} cannot be found; {_allowed(known)}")
            if call.name == "none":
                raise PartError("none stands in a chain; allowed: none alone")
            if call.name in known.words:
                if call.arguments:
                    raise PartError(f"{call.name} has no parameters; allowed: {call.name}")
                settled.append(call.name)
                continue
            _, arguments = self._build(known, call, {})
            settled.append(written(Call(call.name, tuple(arguments.items()))))
        return "+".join(settled)

    def _build(
        self, kind: Kind, call: Call, later: Mapping[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """The part, and its arguments that differ from their defaults, as they are written."""
        factory = imported(call.name) if call.own else self._named(kind, call.name)
        if not callable(factory):
            if isinstance(factory, kind.base) and kind.base != (object,):
                if call.arguments:
                    raise PartError(f"{call.name} is a value; allowed: no parameters")
                return factory, {}
            raise PartError(f"{call.name} is a {type(factory).__name__}, no {kind.name}")
        known = _parameters(factory, tuple(kind.later) if kind.functions else ())
        given = _bound(call, {k: p for k, p in known.items() if k not in kind.later})
        made, texts = {}, {}
        for name, value in given.items():
            made[name], texts[name] = self._argument(call.name, known[name], value)
        if isinstance(factory, type) and not issubclass(factory, kind.base):
            raise PartError(f"{call.name} is no {kind.name}; allowed: a {_bases(kind)}")
        if kind.functions and (kind.later or not isinstance(factory, type)):
            part: Any = Prepared(factory, made)
            if isinstance(factory, type) and None not in kind.later.values():
                _constructed(factory, {**made, **kind.later})
        else:
            filled = {k: later.get(k, v) for k, v in kind.later.items() if k in known}
            part = _constructed(factory, {**made, **filled})
            if not isinstance(part, kind.base):
                raise PartError(f"{call.name} made a {type(part).__name__}, no {_bases(kind)}")
        return part, {k: texts[k] for k in known if k in texts and not _usual(known[k], made[k])}

    def _named(self, kind: Kind, name: str) -> Any:
        try:
            return kind.names[nearest(name, kind.names)]
        except ValueError as error:
            words = [*(("none",) if kind.none else ()), *kind.words]
            more = "".join(f"{word}, " for word in words)
            text = str(error).replace("allowed: ", f"allowed: {more}")
            if other := [k.name for k in self.kinds.values() if name in k.names and k is not kind]:
                text = f"{name} is a name for the {other[0]}, no {kind.name}; {text}"
            raise PartError(f"{text}, or pkg.module:Name") from None

    def _argument(self, owner: str, parameter: inspect.Parameter, value: Any) -> tuple[Any, Any]:
        """An argument as the part gets it, and as it is written."""
        inner = self._kind_of(parameter.annotation)
        if inner is not None and not _fits_plainly(parameter.annotation, value):
            texts = value if isinstance(value, tuple) else (value,)
            settled = tuple(self.settle_rule(inner, str(text)) for text in texts)
            made = tuple(self.make_rule(inner, text) for text in settled)
            return (made, settled) if isinstance(value, tuple) else (made[0], settled[0])
        checked = _checked(owner, parameter, value)
        return checked, _short(checked, parameter.annotation)

    def _kind_of(self, annotation: Any) -> str | None:
        classes = [c for c in _leaves(annotation) if isinstance(c, type) and c not in _PLAIN]
        for kind in self.kinds.values():
            if kind.base != (object,) and any(c in kind.base for c in classes):
                return kind.name
        return None

    def settle_rule(self, kind: str, text: str) -> str:
        """The one text of a part that may have others before it: a rule after its mixings."""
        before, last = _split(text) if kind in _BEFORE else ("", text)
        settled = self.settle(kind, last)
        return f"{self.settle(_BEFORE[kind], before)}+{settled}" if before else settled

    def make_rule(self, kind: str, text: str) -> Any:
        """The part of a text that `settle_rule` gave: mixings are put before a rule with ``|``."""
        before, last = _split(text) if kind in _BEFORE else ("", text)
        made = self.make(kind, last)
        for part in reversed(self.make(_BEFORE[kind], before) if before else ()):
            made = part | made
        return made

    def _describe_chain(self, kind: Kind, part: Any) -> tuple[str, bool]:
        if part is None and kind.none:
            return "none", False
        described = [self._describe(kind, member) for member in _members(part)]
        return "+".join(text for text, _ in described), any(here for _, here in described)

    def _describe(self, kind: Kind, part: Any) -> tuple[str, bool]:
        """The text of an object, and whether it stands in this process alone."""
        if isinstance(part, type | FunctionType):
            if not kind.functions and not isinstance(part, type):
                raise PartError(f"a function is no {kind.name}; {_allowed(kind)}")
            return self._path(kind, part)
        if isinstance(part, Prepared):
            name, here = self._path(kind, part.factory)
            return written(Call(name, tuple(part.arguments.items()))), here
        if kind.base == (object,) or not isinstance(part, kind.base):
            raise PartError(f"a {type(part).__name__} is no {kind.name}; {_allowed(kind)}")
        name, here = self._path(kind, type(part))
        arguments: list[tuple[str, Any]] = []
        for key, parameter in _parameters(_class_of(part), ()).items():
            if key in kind.later:
                continue
            if not hasattr(part, key):
                raise PartError(
                    f"{type(part).__name__} keeps no attribute {key!r} for its parameter; allowed: "
                    f"a dataclass, or its text {name}({key}=...)"
                )
            value = getattr(part, key)
            if not _usual(parameter, value):
                text, hidden = self._described_value(parameter, value)
                arguments.append((key, text))
                here = here or hidden
        return written(Call(name, tuple(arguments))), here

    def _described_value(self, parameter: inspect.Parameter, value: Any) -> tuple[Any, bool]:
        inner = self._kind_of(parameter.annotation)
        if inner is None or _fits_plainly(parameter.annotation, value):
            return _short(value, parameter.annotation), False
        if isinstance(value, tuple):
            found = [self._described_value(parameter, one) for one in value]
            return tuple(text for text, _ in found), any(hidden for _, hidden in found)
        members = [*getattr(value, "mixings", ()), getattr(value, "rule", value)]
        if len(members) == 1 or inner not in _BEFORE:
            return self._describe(self.kinds[inner], value)
        kinds = [self.kinds[_BEFORE[inner]]] * (len(members) - 1) + [self.kinds[inner]]
        found = [self._describe(k, member) for k, member in zip(kinds, members, strict=True)]
        return "+".join(text for text, _ in found), any(hidden for _, hidden in found)

    def _path(self, kind: Kind, thing: Any) -> tuple[str, bool]:
        owner, name = self._of.get(id(thing), ("", ""))
        if owner == kind.name:
            return name, False
        path = import_path(thing)
        return path, not importable(path)


#: What may stand before a part of a kind, joined to it by ``+``.
_BEFORE = {"aggregator": "mixing"}


def _class_of(part: Any) -> Any:
    return type(part)


def _is_none(kind: Kind, text: str) -> bool:
    return bool(kind.none) and text == "none"


def _split(text: str) -> tuple[str, str]:
    calls = [written(call) for call in parse(text)]
    return "+".join(calls[:-1]), calls[-1]


def _members(part: Any) -> Sequence[Any]:
    found: Sequence[Any] = getattr(part, "mixings", (part,))
    return found


def _bases(kind: Kind) -> str:
    return " or ".join(base.__name__ for base in kind.base)


def _allowed(kind: Kind) -> str:
    return f"allowed: {', '.join(kind.described())}, or pkg.module:Name"


@lru_cache(maxsize=512)
def _parameters(factory: Any, later: tuple[str, ...]) -> dict[str, inspect.Parameter]:
    """The parameters of a class or function that a text may give, with their defaults."""
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


def _bound(call: Call, known: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
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


def _constructed(factory: Any, arguments: Mapping[str, Any]) -> Any:
    try:
        return factory(**arguments)
    except (TypeError, ValueError) as error:
        raise PartError(str(error)) from error.__cause__
    except Exception as error:
        # An error in a user's own code is told with its place.
        raise PartError(where_it_failed(error)) from error


def _leaves(annotation: Any) -> list[Any]:
    if get_origin(annotation) in (Union, UnionType, tuple, list, Sequence):
        return [leaf for inner in get_args(annotation) for leaf in _leaves(inner)]
    origin = get_origin(annotation)
    return [origin if isinstance(origin, type) else annotation]


def _fits_plainly(annotation: Any, value: Any) -> bool:
    """Whether a value is what the annotation says without being a part."""
    return value is None and NoneType in _leaves(annotation)


def _checked(owner: str, parameter: inspect.Parameter, value: Any) -> Any:
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


def _short(value: Any, annotation: Any) -> Any:
    """A float without a fraction is written as a whole number where a float is expected."""
    floats = float in _leaves(annotation) and int not in _leaves(annotation)
    if isinstance(value, float) and floats and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def _usual(parameter: inspect.Parameter, value: Any) -> bool:
    default = parameter.default
    if default is parameter.empty or isinstance(default, bool) != isinstance(value, bool):
        return False
    try:
        return bool(default == value)
    except Exception:
        # Values of a user's own that cannot be compared, such as arrays.
        return False
