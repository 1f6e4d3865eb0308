"""Messages out, replies in: a collection closes at a quorum or a deadline, and never raises."""

import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic, sleep
from typing import Generic, TypeVar

from flwr.app import Message, RecordDict
from flwr.serverapp import Grid
from httpx import TransportError

from wola.flower.content_size import content_size
from wola.flower.outage import outlasting
from wola.flower.printable_text import printable_text
from wola.flower.reply_fetch import ReplyFetch, ReplyFetches, UnreadableReply
from wola.flower.reply_pull import LostReply, OversizedReply, ReplyLimits, pull_reply

_T = TypeVar("_T")

#: What makes something of a node's reply, or raises `Invalid` or `RefusedReply`.
ReplyCheck = Callable[[int, Message], _T]

#: Waits between two attempts to fetch replies, in seconds: the first, the longest, the growth.
FIRST_WAIT, LONGEST_WAIT, GROWTH = 0.02, 1.0, 1.5

#: Seconds after which attempts to fetch a reply no longer keep the others waiting.
LONGEST_FETCH = 2.0

#: How much later than the deadline a message expires at the SuperLink: clocks differ.
CLOCK_SLACK = 60.0


class Unused(Exception):
    """A reply that is not used, and why; `key` is the one that signed it, if that is certain."""

    def __init__(self, reason: str, key: bytes | None = None) -> None:
        super().__init__(reason)
        self.key = key


class Invalid(Unused):
    """A reply that no honest client sends, and why."""


class RefusedReply(Unused):
    """A client that says it cannot take part in this run, or that is seen not to, and why."""


@dataclass
class Collected(Generic[_T]):
    """What came of a collection, by node: every node asked is in exactly one of the four.

    `accepted` holds what the judge made of valid replies, `dropped` why a reply was invalid,
    `refused` why a client cannot take part, `missing` why there is no reply: an error, or
    none before the collection closed. Nodes are in ascending order, whatever arrived first.
    `signers` has the keys of those dropped or refused whose signature was good. `surplus` counts
    replies to nothing that was asked.
    """

    accepted: dict[int, _T] = field(default_factory=dict)
    dropped: dict[int, str] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    missing: dict[int, str] = field(default_factory=dict)
    signers: dict[int, bytes] = field(default_factory=dict)
    bytes_in: int = 0
    surplus: int = 0

    def in_order(self) -> "Collected[_T]":
        """The same with nodes in ascending order."""
        return replace(
            self,
            accepted=dict(sorted(self.accepted.items())),
            dropped=dict(sorted(self.dropped.items())),
            refused=dict(sorted(self.refused.items())),
            missing=dict(sorted(self.missing.items())),
        )

    def take(self, node: int, reply: Message, judge: ReplyCheck[_T]) -> None:
        """Puts a node's reply where it belongs; nothing in it makes this raise."""
        try:
            if reply.has_error():
                text = printable_text(str(reply.error.reason or ""))
                self.missing[node] = f"error {reply.error.code}: {text}"
                return
            self.bytes_in += content_size(reply.content)
            self.accepted[node] = judge(node, reply)
        except Unused as error:
            unused = self.refused if isinstance(error, RefusedReply) else self.dropped
            unused[node] = printable_text(str(error))
            if error.key is not None:
                self.signers[node] = error.key
        except Exception as error:
            self.dropped[node] = str(UnreadableReply(error))

    def take_fetched(self, node: int, fetch: ReplyFetch, judge: ReplyCheck[_T]) -> bool:
        """Takes what an attempt found; whether there was anything.

        There is nothing if the SuperLink is away: it may be back for the next attempt.
        """
        try:
            replies = fetch.replies()
        except TransportError:
            return False
        except (UnreadableReply, OversizedReply) as error:
            self.dropped[node] = str(error)
            return True
        except LostReply as error:
            self.missing[node] = str(error)
            return True
        if replies:
            self.take(node, replies[0], judge)
        return bool(replies)


def wait_for_nodes(
    grid: Grid, *, without: Collection[int] = (), at_least: int = 1, patience: float = 0.0
) -> list[int]:
    """Waits for `at_least` connected nodes, `without` some; all of them in ascending order.

    It waits no longer than `patience` seconds, then takes those that are there.
    """
    end, wait = monotonic() + patience, FIRST_WAIT
    while True:
        nodes = sorted(set(outlasting(grid.get_node_ids)) - set(without))
        left = end - monotonic()
        if len(nodes) >= at_least or left <= 0:
            return nodes
        sleep(min(wait, left))
        wait = min(wait * GROWTH, LONGEST_WAIT)


def messages_to(
    nodes: Iterable[int], content: RecordDict, kind: str, *, round_number: int, deadline: float
) -> list[Message]:
    """The messages of a round, one per node.

    Flower names a message by the hash of what it holds and does not compare the sender of a reply
    with the node that was asked. A random part in each one's group id keeps a client from
    guessing the name of another's message, and so from replying in its place.
    """
    return [
        Message(
            content,
            node,
            kind,
            ttl=deadline + CLOCK_SLACK,
            group_id=f"{round_number}-{secrets.token_hex(16)}",
        )
        for node in nodes
    ]


def collect(
    grid: Grid,
    messages: Sequence[Message],
    judge: ReplyCheck[_T],
    *,
    enough: int,
    deadline: float,
    fetches: ReplyFetches,
    limits: ReplyLimits | None = None,
) -> Collected[_T]:
    """Sends the messages and judges the replies until `enough` are valid, or time is over.

    `judge(node, reply)` returns what is kept of a reply, or raises `Invalid` or
    `RefusedReply`; anything else that it raises makes the reply invalid as well. When the
    collection closes, every reply that is there has been taken. Replies are fetched each by
    itself, in the threads of `fetches`: one that Flower cannot put together spoils no other, one
    that does not come whole holds up no other, and however many there are of either, the deadline
    holds. A reply belongs to the node whose message it answers, whatever sender it claims.
    """
    collected: Collected[_T] = Collected()
    nodes = [message.metadata.dst_node_id for message in messages]
    identifiers = list(outlasting(lambda: grid.push_messages(messages))) if messages else []
    # Flower returns no ids at all where all messages together were too large, and None for one
    # that the SuperLink did not take.
    identifiers += [""] * (len(nodes) - len(identifiers))
    waiting = {i: node for i, node in zip(identifiers, nodes, strict=True) if i}
    for i, node in zip(identifiers, nodes, strict=True):
        if not i:
            collected.missing[node] = "the SuperLink did not take the message"
    end = monotonic() + deadline
    begun: dict[str, ReplyFetch] = {}
    wait = FIRST_WAIT
    while waiting:
        left, new = max(0.0, end - monotonic()), []
        for identifier in [i for i in waiting if i not in begun]:
            pull = partial(pull_reply, grid, identifier, limits, seconds=left)
            if fetch := fetches.start(waiting[identifier], pull):
                begun[identifier] = fetch
                new.append(fetch)
        fetches.wait(new, min(LONGEST_FETCH, left))
        for identifier in [i for i, fetch in begun.items() if fetch.over]:
            if collected.take_fetched(waiting[identifier], begun.pop(identifier), judge):
                del waiting[identifier]
        left = end - monotonic()
        if not waiting or left <= 0 or len(collected.accepted) >= enough:
            break
        sleep(min(wait, left))
        wait = min(wait * GROWTH, LONGEST_WAIT)
    for identifier, node in waiting.items():
        hangs = identifier not in begun and fetches.busy(node)
        late = "no reply before the round closed"
        collected.missing[node] = f"{late}; an earlier one still hangs" if hangs else late
    return collected.in_order()


def match_replies(
    messages: Sequence[Message], replies: Iterable[Message], judge: ReplyCheck[_T]
) -> Collected[_T]:
    """Judges replies that somebody else collected: each goes by the message it answers.

    A second reply to a message, and one to a message that was not sent, is surplus.
    """
    collected: Collected[_T] = Collected()
    waiting = {each.metadata.message_id: each.metadata.dst_node_id for each in messages}
    for reply in replies:
        node = waiting.pop(reply.metadata.reply_to_message_id, None)
        if node is None:
            collected.surplus += 1
        else:
            collected.take(node, reply, judge)
    for node in waiting.values():
        collected.missing[node] = "no reply before the round closed"
    return collected.in_order()
