"""The grammar of parts: ``name``, ``name(key=value, ...)`` and ``pkg.module:Name(key=value, ...)``.

One part is a `Call`; parts joined by ``+`` follow each other. A value is a number, ``true``,
``false``, ``none``, a quoted text, a list in brackets or parentheses, or bare text, which may
itself be the text of a part.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike, fspath
from typing import Any

_NAME = re.compile(r"[A-Za-z_][\w.-]*(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?")
_KEY = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)(.*)", re.DOTALL)
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf|nan")
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}
_PAIRS = {"(": ")", "[": "]"}


class GrammarError(ValueError):
    """A text that is no part; the message says what was expected."""


@dataclass(frozen=True)
class Call:
    """A name and what it is called with; an argument without a key is given by its place."""

    name: str
    arguments: tuple[tuple[str | None, Any], ...] = ()

    @property
    def own(self) -> bool:
        """Whether the name is an import path, as a user's own part has."""
        return ":" in self.name


@lru_cache(maxsize=4096)
def parse(text: str) -> tuple[Call, ...]:
    """The parts that a text names, joined by ``+``.

    >>> parse("nnm + krum(power=1)")
    (Call(name='nnm', arguments=()), Call(name='krum', arguments=(('power', 1),)))
    >>> parse("krum(power=1")
    Traceback (most recent call last):
    ...
    wola.parts.grammar.GrammarError: '(' is never closed; expected name(key=value, ...)
    """
    return tuple(_call(piece.strip()) for piece in _pieces(text, "+"))


def part_name(text: str) -> str:
    """The name of a part without its parameters; names of a chain joined by ``+``.

    Nothing is imported, and a text that is no part is its own name.

    >>> part_name("multi-krum(power=1)"), part_name("nnm+mine:Rule(k=3)")
    ('multi-krum', 'nnm+mine:Rule')
    """
    try:
        return "+".join(call.name for call in parse(text))
    except GrammarError:
        return text


def written(call: Call) -> str:
    """The text of a call.

    >>> written(Call("krum", (("power", 1.0), ("note", "a, b"))))
    'krum(power=1.0, note="a, b")'
    """
    if not call.arguments:
        return call.name
    inside = (f"{k}={written_value(v)}" if k else written_value(v) for k, v in call.arguments)
    return f"{call.name}({', '.join(inside)})"


def written_value(value: Any) -> str:
    """The text of a value, which reads back as the same value.

    >>> [written_value(v) for v in (0.1, True, None, "disjoint", "12", (64, 32))]
    ['0.1', 'true', 'none', 'disjoint', '"12"', '(64, 32)']
    """
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, PathLike):
        value = fspath(value)
    if isinstance(value, str):
        return str(value) if _reads_back(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence):
        inside = ", ".join(map(written_value, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    raise GrammarError(
        f"a {type(value).__name__} has no text; allowed: numbers, texts, true, false, none, lists "
        "of these, and parts"
    )


def _reads_back(text: str) -> bool:
    if text != text.strip() or not text or _KEY.fullmatch(text):
        return False
    try:
        return len(list(_pieces(text, ","))) == 1 and _value(text) == text
    except GrammarError:
        return False


def _call(text: str) -> Call:
    found = _NAME.match(text)
    if found is None:
        raise GrammarError(f"{text!r} does not begin with a name; expected name(key=value, ...)")
    name, rest = found[0], text[found.end() :].strip()
    if not rest:
        return Call(name)
    if not (rest.startswith("(") and rest.endswith(")")):
        raise GrammarError(f"{rest!r} after {name!r}; expected name(key=value, ...)")
    arguments: list[tuple[str | None, Any]] = []
    for piece in _arguments(rest[1:-1]):
        keyed = _KEY.fullmatch(piece)
        if keyed is None and any(key is not None for key, _ in arguments):
            raise GrammarError(f"{piece.strip()!r} stands after a key; expected key=value")
        arguments.append((keyed[1], _value(keyed[2])) if keyed else (None, _value(piece)))
    keys = [key for key, _ in arguments if key is not None]
    for key in keys:
        if keys.count(key) > 1:
            raise GrammarError(f"{key!r} is given {keys.count(key)} times; expected once")
    return Call(name, tuple(arguments))


def _arguments(text: str) -> list[str]:
    pieces = list(_pieces(text, ","))
    if not pieces[-1].strip():
        pieces.pop()  # A comma at the end, or nothing at all.
    return pieces


def _value(text: str) -> Any:
    text = text.strip()
    if not text:
        raise GrammarError("a value is missing; expected key=value")
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    if text[0] in "\"'":
        try:
            return str(ast.literal_eval(text))
        except (SyntaxError, ValueError):
            raise GrammarError(f"{text} is no quoted text; expected quotes around it") from None
    if text[0] in _PAIRS and text[-1] == _PAIRS[text[0]]:
        return tuple(map(_value, _arguments(text[1:-1])))
    for _ in _pieces(text, ","):
        pass  # Parentheses within bare text must be closed.
    return text


def _pieces(text: str, separator: str) -> Iterator[str]:
    """The text cut at a separator that stands outside of quotes and parentheses."""
    start, open_, quote, escaped = 0, list[str](), "", False
    for place, sign in enumerate(text):
        if quote:
            if sign == quote and not escaped:
                quote = ""
            escaped = sign == "\\" and not escaped
        elif sign in "\"'":
            quote = sign
        elif sign in _PAIRS:
            open_.append(sign)
        elif sign in _PAIRS.values():
            if not open_ or _PAIRS[open_.pop()] != sign:
                raise GrammarError(f"{sign!r} closes nothing; expected name(key=value, ...)")
        elif sign == separator and not open_:
            yield text[start:place]
            start = place + 1
    if quote or open_:
        missing = quote or open_[-1]
        raise GrammarError(f"{missing!r} is never closed; expected name(key=value, ...)")
    yield text[start:]
