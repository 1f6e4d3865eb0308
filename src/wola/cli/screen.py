"""Where the command line writes: the terminal in colour, plain text into a pipe, or JSON."""

import json
import math
from typing import Any

from rich.console import Console

# Tables are not squeezed into the 80 columns that a pipe is taken for.
PIPE_WIDTH = 112


def screen(*, stderr: bool = False) -> Console:
    """The console for this moment's standard output or error.

    >>> screen().is_terminal
    False
    """
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def say(console: Console, text: str, *, style: str | None = None) -> None:
    """Prints text as it is: no markup is looked for, and a pipe gets it unwrapped."""
    console.print(text, style=style, markup=False, soft_wrap=not console.is_terminal)


def say_json(value: Any) -> None:
    """Prints a value as JSON, as it is, with null for numbers that are not finite.

    >>> say_json({"accuracy": float("nan"), "steps": 3})
    {
      "accuracy": null,
      "steps": 3
    }
    """
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
