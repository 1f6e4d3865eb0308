"""One look for the reply to a message, which may be left behind if it takes too long."""

from threading import Thread

from flwr.app import Message
from flwr.serverapp import Grid
from httpx import HTTPError


class Unreadable(Exception):
    """A reply that cannot be put together or looked at, because of what its sender sent."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"cannot be read ({type(error).__name__})")


class Pull:
    """One look for the reply to a message, in a thread of its own.

    Flower waits, up to two hours, for a reply that was announced and of which a part has not
    been uploaded; whoever dies while uploading must not hold up the round.
    """

    def __init__(self, grid: Grid, identifier: str) -> None:
        self._grid, self._identifier = grid, identifier
        self._found: list[Message] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        try:
            self._found = list(self._grid.pull_messages([self._identifier]))
        except BaseException as error:
            self._error = error

    def wait(self, seconds: float) -> None:
        """Waits until the look is over, but not longer."""
        self._thread.join(seconds)

    @property
    def over(self) -> bool:
        """Whether the look is over."""
        return not self._thread.is_alive()

    def replies(self) -> list[Message]:
        """What was found, or `Unreadable`; an error that is no client's fault is raised again.

        A connection that broke is nobody's fault. Anything else that Flower raises comes from
        objects that do not fit together.
        """
        if self._error is None:
            return self._found
        if isinstance(self._error, OSError | HTTPError) or not isinstance(self._error, Exception):
            raise self._error
        raise Unreadable(self._error) from self._error
