"""Faults: what one client does, or what happens to it, as a grid and a lie of the client's."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from flwr.app import Message

from benchmarks.flower_clients import LIES, Lie, slow
from wola.flower import LoopbackGrid

#: Eight clients: with one of them lost Bulyan still has the 4 f + 3 that it asks for.
N, F, ROUNDS = 8, 1, 6
#: Seconds that a round may take, for every strategy alike.
TIMEOUT = 2.0
FIRST, LIAR = 1001, 1000 + N


class Waiting(Exception):
    """A strategy that asks again and again for nodes that do not come."""


class FaultyGrid(LoopbackGrid):
    """A grid in which nothing is wrong yet; subclasses make it so.

    Whoever asks for the nodes for longer than `patience` seconds after the last message is
    stopped by an error.
    """

    patience = 4 * TIMEOUT

    def __init__(self, apps: Iterable[object], *, background: Iterable[int] = ()) -> None:
        super().__init__(list(apps), background=list(background))  # type: ignore[arg-type]
        self.rounds = self.timeouts = 0
        self.since = time.monotonic()

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        """Counts the rounds."""
        given = list(messages)
        self.since = time.monotonic()
        if given and given[0].metadata.message_type == "train":
            self.rounds += 1
            self.before(self.rounds)
        return super().push_messages(given)

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        """Counts the rounds that somebody's reply was waited for in vain."""
        given = list(messages)
        replies = list(super().send_and_receive(given, timeout=timeout))
        self.timeouts += len(replies) < len(given)
        return replies

    def before(self, number: int) -> None:
        """What happens before a round of training."""

    def get_node_ids(self) -> Iterable[int]:
        """The nodes, but not for ever."""
        if time.monotonic() - self.since > self.patience:
            raise Waiting
        return super().get_node_ids()


class Killed(FaultyGrid):
    """The last client dies before the second round."""

    def before(self, number: int) -> None:
        """Kills it."""
        if number == 2:
            self.kill(LIAR)


class Restarted(FaultyGrid):
    """The last client dies before the second round and is back for the fourth."""

    def before(self, number: int) -> None:
        """Kills it, or brings it back."""
        if number == 2:
            self.kill(LIAR)
        if number == 4:
            self.join(LIAR, self.apps[LIAR])


class Forged(FaultyGrid):
    """The last client's replies name the first one as their sender."""

    def answer(self, node: int, message: Message) -> Message | None:
        """The reply, with another's name on it."""
        reply = super().answer(node, message)
        if node == LIAR and reply is not None:
            reply.metadata.__dict__["_src_node_id"] = FIRST
        return reply


class Stolen(FaultyGrid):
    """The last client sends what the first one would, as its own."""

    def answer(self, node: int, message: Message) -> Message | None:
        """The reply, or the other's."""
        if node != LIAR or message.metadata.message_type != "train":
            return super().answer(node, message)
        stolen = super().answer(FIRST, message)
        return stolen and Message(stolen.content, reply_to=message)


class Few(FaultyGrid):
    """Two of the clients never come."""

    def __init__(self, apps: Iterable[object], *, background: Iterable[int] = ()) -> None:
        super().__init__(list(apps)[:-2], background=background)


@dataclass(frozen=True)
class Fault:
    """A lie of the last client, or what happens in the grid; `slow` ones have a thread."""

    lie: Lie | None = None
    grid: Callable[..., FaultyGrid] = FaultyGrid
    slow: bool = False
    rounds: int = ROUNDS


NOTHING = "nothing"

FAULTS: Mapping[str, Fault] = {
    NOTHING: Fault(),
    "its node is killed": Fault(grid=Killed),
    "its node is killed and comes back": Fault(grid=Restarted),
    **{f"it {words}": Fault(lie) for words, lie in LIES.items()},
    "it adds 100 MB to its reply": Fault(LIES["adds 100 MB to its reply"], rounds=2),
    "it exits without a reply": Fault(LIES["exits without a reply"], rounds=2),
    "it replies after the round's time": Fault(slow(2 * TIMEOUT), slow=True, rounds=2),
    "its replies name another as sender": Fault(grid=Forged),
    "it sends another's reply as its own": Fault(grid=Stolen),
    "two of the eight never come": Fault(grid=Few),
}
