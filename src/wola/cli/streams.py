"""Standard output and error that forgive: readers that go away, and terminals without signs."""

import codecs
import io
import os
import sys
from typing import Any, TextIO

from wola.ground.signs import PLAIN_SIGNS

_PLAIN = "wola.plain-signs"


def guard_output() -> None:
    """Makes the standard streams forgiving, once, when the process begins.

    A reader that goes away, as `head` does, ends no work: the rest goes nowhere. A stream that
    cannot write a sign gets it in ASCII.
    """
    codecs.register_error(_PLAIN, _in_plain_signs)
    # A process that was started without one of them has None there.
    sys.stdout = sys.stdout and _guarded(sys.stdout)
    sys.stderr = sys.stderr and _guarded(sys.stderr)


class _Forgiving(io.FileIO):
    """A file whose reader may go away: what is written then goes nowhere."""

    def write(self, data: Any, /) -> int:
        """Writes to the reader, or to nobody."""
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return super().write(data)


def _guarded(stream: TextIO) -> TextIO:
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Forgiving(stream.fileno(), "wb", closefd=False)),
        encoding=stream.encoding,
        errors=_PLAIN,
        line_buffering=True,
    )


def _in_plain_signs(error: UnicodeError) -> tuple[str, int]:
    """What to write for signs that an encoding lacks, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(PLAIN_SIGNS.get(sign) or ascii(sign)[1:-1] for sign in lost), error.end
