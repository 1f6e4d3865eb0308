"""A kind of part: what its parts are called, what they must be, and what they are given later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import getdoc
from types import MappingProxyType
from typing import Any


class PartError(ValueError):
    """A part that cannot be: the message names what it was given as and what is allowed."""


class Unimportable(str):
    """The text of a part whose object other processes cannot import; the object goes with it.

    It stands for the object in this process alone: a store or a pool refuses it.
    """

    value: Any

    def __new__(cls, text: str, value: Any) -> Unimportable:
        """The text, and the object that it stands for."""
        made = super().__new__(cls, text)
        made.value = value
        return made

    def __getnewargs__(self) -> tuple[str, Any]:  # type: ignore[override]
        return str(self), self.value


@dataclass(frozen=True)
class Prepared:
    """A function or class with some of its arguments: called later, with the rest of them."""

    factory: Any
    arguments: Mapping[str, Any]

    def __call__(self, *args: Any, **more: Any) -> Any:
        """What the factory makes."""
        return self.factory(*args, **{**self.arguments, **more})


@dataclass(frozen=True)
class Kind:
    """A kind of part, such as "aggregator".

    `names` maps the library's names to classes or functions, `base` is what a part must be an
    instance of. With `none` the word "none" stands for no part. A `chain` is several parts joined
    by ``+``. `later` names parameters that come from elsewhere, as a partition's alpha does from
    the scenario, with a stand-in for each while a part is only looked at. With `functions` a part
    may also be a function, and one that has something to come `later` is called only then.
    """

    name: str
    names: Mapping[str, Any]
    base: tuple[type, ...] = (object,)
    none: str = ""
    chain: bool = False
    functions: bool = False
    later: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    opaque: Callable[[Any], str | None] = lambda part: None
    """The text of an object that parameters cannot describe, such as data in memory."""
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Further words that stand for something of their own, such as a model's "auto"."""

    def described(self) -> dict[str, str]:
        """Every name with one line about it: the first of its docstring.

        >>> Kind("tool", {"dict": dict}, none="Nothing.").described()["none"]
        'Nothing.'
        """
        empty = {"none": self.none} if self.none else {}
        return {**empty, **self.words, **{k: _first_line(v) for k, v in self.names.items()}}

    def allowed(self) -> str:
        """What a text of this kind may be, as an error says it.

        >>> Kind("tool", {"dict": dict}).allowed()
        'allowed: dict, or pkg.module:Name'
        """
        return f"allowed: {', '.join(self.described())}, or pkg.module:Name"


def _first_line(thing: Callable[..., Any]) -> str:
    return (getdoc(thing) or "").split("\n")[0].replace("`", "")
