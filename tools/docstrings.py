"""What a part's docstring says, piece by piece, and as Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any

#: Paragraphs that begin with one of these words and a colon, in this order after the others.
LABELS = ("Defaults", "Needs", "Cost", "Draws", "Reference")

#: Where a default comes from; what follows says more.
SOURCES = (
    "the WoLA paper's public code",
    "the WoLA paper",
    "its authors' public code",
    "its authors",
    "public code",
    "ours",
    "no default",
)


class Unsaid(ValueError):
    """A docstring that does not say what the manual tells of every part."""


@dataclass(frozen=True)
class Described:
    """A docstring: its first line, its paragraphs, and those that have a label."""

    name: str
    line: str
    paragraphs: tuple[str, ...]
    labelled: dict[str, str]

    def defaults(self, parameters: list[str]) -> dict[tuple[str, ...], str]:
        """Where the defaults come from: for parameters that are told of together, a source."""
        found: dict[tuple[str, ...], str] = {}
        for item in filter(None, re.split(r"; (?=`)", self.labelled.get("Defaults", ""))):
            names, _, source = item.partition(": ")
            if not source.startswith(SOURCES):
                raise Unsaid(
                    f"{self.name}: the default of {names} is from {source!r}; allowed: what begins "
                    f"with one of {', '.join(SOURCES)}"
                )
            found[tuple(re.findall(r"`(\w+)`", names))] = source
        named = [name for names in found for name in names]
        if sorted(named) != sorted(parameters):
            raise Unsaid(
                f"{self.name}: Defaults names {sorted(named)}; allowed: its parameters "
                f"{sorted(parameters)}"
            )
        return found


def described(part: Any) -> Described:
    """What the docstring of a class says.

    >>> class Rule:
    ...     '''The mean.
    ...
    ...     Cost: one pass.
    ...
    ...     Reference: none.
    ...     '''
    >>> described(Rule).labelled
    {'Cost': 'one pass.', 'Reference': 'none.'}
    """
    text = cleandoc(part.__dict__.get("__doc__") or "")
    if not text:
        raise Unsaid(
            f"{part.__name__} has no docstring of its own; allowed: one that says what it is"
        )
    text = re.split(r"^>>> ", text, maxsplit=1, flags=re.M)[0]
    first, *rest = [piece for piece in re.split(r"\n\s*\n", text.strip()) if piece.strip()]
    labelled, paragraphs = dict[str, str](), list[str]()
    for paragraph in rest:
        label, _, after = paragraph.partition(": ")
        if label in LABELS:
            labelled[label] = " ".join(after.split())
        else:
            paragraphs.append(paragraph)
    missing = [label for label in ("Cost", "Reference") if label not in labelled]
    if missing:
        raise Unsaid(
            f"the docstring of {part.__name__} has no paragraph 'Cost: ...' or 'Reference: ...': "
            f"{', '.join(missing)} is missing; allowed: one of each"
        )
    return Described(part.__name__, " ".join(first.split()), tuple(paragraphs), labelled)


def markdown(paragraph: str) -> str:
    r"""A paragraph of a docstring as Markdown, with its formulas, roles and plain signs.

    >>> markdown("``f`` of :class:`~wola.data.Iid` with :math:`x < 1`, <v, w>")
    '`f` of `Iid` with $x < 1$, \\<v, w>'
    """
    if paragraph.startswith(".. math::"):
        formula = " ".join(paragraph.removeprefix(".. math::").split())
        return f"$$\n{formula}\n$$"
    text = " ".join(paragraph.split())
    pieces = re.split(r"(:\w+:`[^`]*`|``[^`]*``|`[^`]*`)", text)
    return "".join(_piece(piece) for piece in pieces)


def _piece(piece: str) -> str:
    if role := re.fullmatch(r":(\w+):`~?(.*)`", piece):
        kind, text = role.groups()
        return f"${text}$" if kind == "math" else f"`{text.rpartition('.')[2]}`"
    if piece.startswith("``"):
        return piece[1:-1]
    if piece.startswith("`"):
        return piece
    return re.sub(r"([<*])", r"\\\1", piece)
