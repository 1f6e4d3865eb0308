"""Signs beyond ASCII that the software writes, and what stands for them where there are none."""

from collections.abc import Mapping
from types import MappingProxyType

#: What a terminal without these signs gets for them.
PLAIN_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "¹": "^1",
        "²": "^2",
        "³": "^3",
        "▼": " (worst)",
        "‡": " (diverged)",
        "✓": "ok",
        "τ": "tau",
        "…": "...",
        "·": "-",
    }
)


def plain(text: str) -> str:
    """The text without signs that not every terminal has.

    >>> plain("77.1 (0.7)²"), plain("Kendall τ")
    ('77.1 (0.7)^2', 'Kendall tau')
    """
    return "".join(PLAIN_SIGNS.get(sign, sign) for sign in text)
