"""Docstrings of the package as Markdown, for the reference: an extension of Griffe."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import Any

from griffe import Alias, Docstring, Extension, Module, Object

from tools.docstrings import LABELS, markdown


class MarkdownDocstrings(Extension):
    """Writes each docstring as Markdown, and takes what is said of a constant above it for one."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite what is said of whatever was found."""
        if obj.docstring is None and obj.is_attribute and obj.lineno is not None:
            said = _said_above(obj.lines_collection[obj.filepath], obj.lineno)
            obj.docstring = Docstring("\n".join(said), parent=obj) if said else None
        if obj.docstring is not None:
            obj.docstring.value = page_text(obj.docstring.value)

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Let a public function stand before the module of the same name that it comes from."""
        public = [(room, str(name)) for room in pkg.modules.values() for name in room.exports or []]
        for room, name in public:
            member = room.members[name]
            if isinstance(member, Alias):
                member.resolve_target()
        for room, name in public:
            member = room.members[name]
            if isinstance(member, Module):
                room.members[name] = Alias(name, member.members[name], parent=room)


def page_text(docstring: str) -> str:
    r"""A whole docstring as Markdown.

    >>> page_text("One ``f``.\n\nCost: :math:`n` passes.")
    'One `f`.\n\n*Cost*: $n$ passes.'
    """
    pieces = re.split(r"\n\s*\n", cleandoc(docstring))
    return "\n\n".join(_piece(piece) for piece in pieces)


def _piece(piece: str) -> str:
    if piece.startswith(">>> "):
        return f"```pycon\n{piece}\n```"
    before, prompt, example = piece.partition("\n>>> ")
    if prompt:
        return f"{_piece(before)}\n\n{_piece('>>> ' + example)}"
    if piece.startswith(("- ", "    ")):
        return piece
    label, colon, rest = piece.partition(": ")
    return f"*{label}*: {markdown(rest)}" if colon and label in LABELS else markdown(piece)


def _said_above(lines: list[str], lineno: int) -> list[str]:
    """The comment that ends on the line before the given one, which is counted from 1."""
    end = lineno - 1
    start = end
    while start and lines[start - 1].lstrip().startswith("#:"):
        start -= 1
    return [line.lstrip().removeprefix("#:").strip() for line in lines[start:end]]
