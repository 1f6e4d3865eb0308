"""One attempt to fetch the reply to a message, in a thread that nobody has to wait for."""

from threading import Thread

from flwr.app import Message
from flwr.serverapp import Grid
from httpx import HTTPError


class UnreadableReply(Exception):
    """A reply that cannot be put together or decoded, because of what its sender sent."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"cannot be read ({type(error).__name__})")


class ReplyFetch:
    """One attempt to fetch the reply to a message, in a thread of its own.

    Flower waits, up to two hours, for a reply that was announced and of which a part has not
    been uploaded; a client that dies while it uploads must not hold up the round.
    """

    def __init__(self, grid: Grid, identifier: str) -> None:
        self._grid, self._identifier = grid, identifier
        self._found: list[Message] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._fetch, daemon=True)
        self._thread.start()

    def _fetch(self) -> None:
        try:
            self._found = list(self._grid.pull_messages([self._identifier]))
        except BaseException as error:
            self._error = error

    def wait(self, seconds: float) -> None:
        """Waits until the attempt is over, but no longer than this."""
        self._thread.join(seconds)

    @property
    def over(self) -> bool:
        """Whether the attempt is over."""
        return not self._thread.is_alive()

    def replies(self) -> list[Message]:
        """What was found, or `UnreadableReply`; an error that no client caused is raised again.

        No client causes a broken connection. Anything else that Flower raises comes from objects
        that do not fit together.
        """
        if self._error is None:
            return self._found
        if isinstance(self._error, OSError | HTTPError) or not isinstance(self._error, Exception):
            raise self._error
        raise UnreadableReply(self._error) from self._error
