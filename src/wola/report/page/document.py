"""The page as one HTML file: style, script and data inside, and a policy that lets nothing out."""

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Literal

#: Where the page finds curves: inside itself, in files beside it, or at the server it comes from.
Place = Literal["inside", "beside", "server"]

_SOURCES: dict[Place, tuple[str, str]] = {
    "inside": ("", "'none'"),
    "beside": (" file: 'self'", "'none'"),
    "server": ("", "'self'"),
}


def page_document(data: dict[str, Any], curves: dict[str, Any], *, place: Place) -> str:
    """The page of some data; the policy allows its own script and style, and no other address.

    >>> "<b>" in page_document({"note": "</script><b>"}, {}, place="inside")
    False
    """
    parts = {
        "policy": policy(place),
        "style": joined("style"),
        "script": joined("script"),
        "data": embedded({**data, "place": place}),
        "curves": embedded(curves),
    }
    # All at once, so that no text of a run is ever taken for the name of a part.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _frame())


def policy(place: Place) -> str:
    """What a browser lets the page do: run and style itself, and read from where its curves are."""
    scripts, connections = _SOURCES[place]
    return (
        f"default-src 'none'; script-src {_hash(joined('script'))}{scripts}; "
        f"style-src {_hash(joined('style'))}; img-src data:; connect-src {connections}; "
        "base-uri 'none'; form-action 'none'"
    )


def embedded(value: Any) -> str:
    r"""JSON that can stand inside a script element whatever its texts are.

    >>> print(embedded({"note": "</script>"}))
    {"note":"\u003c/script>"}
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in ("<", "\u2028", "\u2029"):
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@cache
def joined(kind: Literal["script", "style"]) -> str:
    """The page's script or style: its files one after another, in the order of their names."""
    found = (files("wola.report.page") / kind).iterdir()
    return "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(found, key=lambda path: path.name)
    )


@cache
def _frame() -> str:
    return (files("wola.report.page") / "page.html").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
