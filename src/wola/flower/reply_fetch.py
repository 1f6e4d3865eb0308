"""Attempts to fetch replies, in a few threads that live on, and that nobody has to wait for."""

from collections import deque
from collections.abc import Callable, Iterable
from threading import Condition, Lock, Thread
from time import monotonic

from flwr.app import Message
from httpx import HTTPError

from wola.flower.reply_pull import LostReply, OversizedReply

#: How many threads fetch at the same time, as long as none of them hangs.
THREADS = 4

#: Seconds without an attempt that ends, after which each one that is queued gets a thread.
STALL = 0.25

#: Seconds after which a thread without work ends.
IDLE = 5.0


class UnreadableReply(Exception):
    """A reply that cannot be put together or decoded, because of what its sender sent."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"cannot be read ({type(error).__name__})")


class ReplyFetch:
    """One attempt to fetch the reply of a node."""

    def __init__(self, node: int, pull: Callable[[], Iterable[Message]]) -> None:
        self.node, self.over = node, False
        self._pull = pull
        self._found: list[Message] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Does the work; whatever happens is kept for `replies`."""
        try:
            self._found = list(self._pull())
        except BaseException as error:
            self._error = error

    def replies(self) -> list[Message]:
        """What was found, or why it is of no use; an error that no client caused is raised again.

        No client causes a broken connection. Anything else that Flower raises comes from objects
        that do not fit together, and is an `UnreadableReply`.
        """
        error = self._error
        if error is None:
            return self._found
        if isinstance(error, OSError | HTTPError | LostReply | OversizedReply):
            raise error
        if not isinstance(error, Exception):
            raise error
        raise UnreadableReply(error) from error


class ReplyFetches:
    """The threads that fetch replies for a run: reused, daemons, never more than there are nodes.

    A grid may wait, for hours, for a reply that was announced and of which a part was not
    uploaded. Such an attempt keeps its thread until it ends, and a node gets no second one
    meanwhile: nodes that hang in every round hold one thread each, and all others are served.

    >>> fetches = ReplyFetches()
    >>> fetch = fetches.start(1001, lambda: [])
    >>> fetches.wait([fetch], 5.0)
    >>> fetch.over, fetch.replies()
    (True, [])
    """

    def __init__(self) -> None:
        lock = Lock()
        self._asked, self._ended = Condition(lock), Condition(lock)
        self._queue: deque[ReplyFetch] = deque()
        self._nodes: set[int] = set()
        self._threads = self._idle = self._count = 0

    def start(self, node: int, pull: Callable[[], Iterable[Message]]) -> ReplyFetch | None:
        """Queues an attempt; None as long as an earlier one for this node is not over."""
        with self._asked:
            if node in self._nodes:
                return None
            fetch = ReplyFetch(node, pull)
            self._nodes.add(node)
            self._queue.append(fetch)
            if self._idle:
                self._asked.notify()
            elif self._threads < THREADS:
                self._new_thread()
        return fetch

    def busy(self, node: int) -> bool:
        """Whether an attempt for this node is not over."""
        with self._asked:
            return node in self._nodes

    def wait(self, fetches: Iterable[ReplyFetch], seconds: float) -> None:
        """Waits until all of these are over, but no longer than this.

        What is queued afterwards gets threads too: nobody may come to wait for it again.
        """
        end, waiting = monotonic() + seconds, list(fetches)
        with self._ended:
            while waiting := [fetch for fetch in waiting if not fetch.over]:
                left, before = end - monotonic(), self._count
                if left <= 0:
                    break
                self._ended.wait(min(left, STALL))
                if self._count == before:
                    self._serve_queue()
            self._serve_queue()

    def _serve_queue(self) -> None:
        # One for each node that is queued or being fetched; threads that only start count as well.
        for _ in range(len(self._nodes) - self._threads):
            self._new_thread()

    def _new_thread(self) -> None:
        self._threads += 1
        Thread(target=self._work, name="wola-fetch", daemon=True).start()

    def _work(self) -> None:
        while fetch := self._next():
            fetch.run()
            with self._ended:
                fetch.over = True
                self._nodes.discard(fetch.node)
                self._count += 1
                self._ended.notify_all()
            del fetch

    def _next(self) -> ReplyFetch | None:
        with self._asked:
            self._idle += 1
            there = self._asked.wait_for(lambda: self._queue, IDLE)
            self._idle -= 1
            if there:
                return self._queue.popleft()
            self._threads -= 1
            return None
