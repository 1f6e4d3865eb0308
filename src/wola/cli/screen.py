"""Where the command line writes: the terminal in colour, or plain text into a pipe."""

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
