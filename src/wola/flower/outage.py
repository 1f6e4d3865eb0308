"""Times without a SuperLink: what is asked of it is asked again until it is back."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

from httpx import TransportError

_T = TypeVar("_T")

#: Seconds after which a SuperLink that does not come back ends the run.
PATIENCE = 600.0

#: Seconds between two attempts.
PAUSE = 1.0


def outlasting(ask: Callable[[], _T]) -> _T:
    """What `ask` returns, asked again for `PATIENCE` seconds as long as the connection breaks.

    Flower's own client tries again as well, but gives up at once if the error mentions TLS, as it
    does when the SuperLink dies in the middle of a handshake.

    >>> outlasting(lambda: [1001, 1002])
    [1001, 1002]
    """
    end = monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except TransportError:
            if monotonic() > end:
                raise
            sleep(PAUSE)
