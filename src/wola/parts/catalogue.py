"""The one place that turns the text of a part into the part, and a part into its text."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from wola.ground.names import nearest
from wola.parts.describing import BEFORE, Describer, kind_for, members
from wola.parts.grammar import Call, GrammarError, parse, written
from wola.parts.importing import (
    OwnPartError,
    importable,
    imported,
    source_digests,
    where_it_failed,
)
from wola.parts.kind import Kind, PartError, Prepared, Unimportable
from wola.parts.parameters import (
    bound_arguments,
    checked_value,
    fits_plainly,
    is_default,
    parameters_of,
    short_value,
)


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
        self._written = Describer(self.kinds)
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
            text, here = self._written.chain(known, given)
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
            return members(text.value) if known.chain else text.value
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
            return parameter in parameters_of(type(text.value))
        (call,) = parse(text)
        factory = imported(call.name) if call.own else self.kinds[kind].names[call.name]
        return parameter in parameters_of(factory)

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
                raise PartError(f"module {module!r} cannot be found; {known.allowed()}")
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
        known = parameters_of(factory, tuple(kind.later) if kind.functions else ())
        given = bound_arguments(call, {k: p for k, p in known.items() if k not in kind.later})
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
        return part, {
            k: texts[k] for k in known if k in texts and not is_default(known[k], made[k])
        }

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
        inner = kind_for(parameter.annotation, self.kinds)
        if inner is not None and not fits_plainly(parameter.annotation, value):
            texts = value if isinstance(value, tuple) else (value,)
            settled = tuple(self.settle_rule(inner, str(text)) for text in texts)
            made = tuple(self.make_rule(inner, text) for text in settled)
            return (made, settled) if isinstance(value, tuple) else (made[0], settled[0])
        checked = checked_value(owner, parameter, value)
        return checked, short_value(checked, parameter.annotation)

    def settle_rule(self, kind: str, text: str) -> str:
        """The one text of a part that may have others before it: a rule after its mixings."""
        before, last = _split(text) if kind in BEFORE else ("", text)
        settled = self.settle(kind, last)
        return f"{self.settle(BEFORE[kind], before)}+{settled}" if before else settled

    def make_rule(self, kind: str, text: str) -> Any:
        """The part of a text that `settle_rule` gave: mixings are put before a rule with ``|``."""
        before, last = _split(text) if kind in BEFORE else ("", text)
        made = self.make(kind, last)
        for part in reversed(self.make(BEFORE[kind], before) if before else ()):
            made = part | made
        return made


def _is_none(kind: Kind, text: str) -> bool:
    return bool(kind.none) and text == "none"


def _split(text: str) -> tuple[str, str]:
    calls = [written(call) for call in parse(text)]
    return "+".join(calls[:-1]), calls[-1]


def _bases(kind: Kind) -> str:
    return " or ".join(base.__name__ for base in kind.base)


def _constructed(factory: Any, arguments: Mapping[str, Any]) -> Any:
    try:
        return factory(**arguments)
    except (TypeError, ValueError) as error:
        raise PartError(str(error)) from error.__cause__
    except Exception as error:
        # An error in a user's own code is told with its place.
        raise PartError(where_it_failed(error)) from error
