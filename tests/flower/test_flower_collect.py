"""A collection closes in time, whatever nodes and Flower do with replies."""

import threading
import time
from collections.abc import Iterable
from threading import Event
from typing import Any

import pytest
from flwr.app import ConfigRecord, Context, Message, RecordDict

from tests.flower.test_flower_loopback import echo
from wola.flower import LoopbackGrid
from wola.flower.collect import (
    Invalid,
    RefusedReply,
    collect,
    match_replies,
    messages_to,
    wait_for_nodes,
)
from wola.flower.content_size import content_size
from wola.flower.reply_fetch import ReplyFetches

CONTENT = RecordDict({"c": ConfigRecord({"word": "hello"})})


def ask(grid: LoopbackGrid) -> list[Message]:
    return messages_to(grid.get_node_ids(), CONTENT, "query", round_number=3, deadline=1.0)


def word(node: int, reply: Message) -> str:
    return str(reply.content.config_records["c"]["word"])


def gather(
    grid: LoopbackGrid, judge: Any = word, *, enough: int = 99, deadline: float = 2.0
) -> Any:
    return collect(grid, ask(grid), judge, enough=enough, deadline=deadline, fetches=ReplyFetches())


def mute(message: Message, context: Context) -> Message:
    raise SystemExit(0)


def test_all_replies_end_it_at_once() -> None:
    start = time.monotonic()
    collected = gather(LoopbackGrid([echo] * 3), deadline=60.0)
    assert collected.accepted == dict.fromkeys([1001, 1002, 1003], "hello")
    assert collected.bytes_in == 3 * content_size(CONTENT)
    assert time.monotonic() - start < 30


def test_enough_valid_replies_end_it_and_whatever_is_there_is_taken() -> None:
    grid = LoopbackGrid([mute, echo, echo, echo])
    collected = gather(grid, enough=2, deadline=60.0)
    assert list(collected.accepted) == [1002, 1003, 1004]
    assert collected.missing == {1001: "no reply before the round closed"}


def test_invalid_replies_are_not_enough() -> None:
    def judge(node: int, reply: Message) -> str:
        if node < 1003:
            raise Invalid("wrong")
        return "right"

    collected = gather(LoopbackGrid([echo, echo, echo, mute]), judge, enough=2, deadline=0.1)
    assert list(collected.accepted) == [1003]
    assert collected.dropped == {1001: "wrong", 1002: "wrong"}
    assert list(collected.missing) == [1004]


def test_the_deadline_ends_it() -> None:
    start = time.monotonic()
    collected = gather(LoopbackGrid([mute, echo]), deadline=0.15)
    assert time.monotonic() - start >= 0.15
    assert list(collected.missing) == [1001]


def test_a_late_reply_within_the_deadline_is_waited_for() -> None:
    def late(message: Message, context: Context) -> Message:
        time.sleep(0.1)
        return echo(message, context)

    collected = gather(LoopbackGrid([late, echo], background=[1001]), deadline=60.0)
    assert list(collected.accepted) == [1001, 1002]


def test_every_node_asked_is_in_exactly_one_place() -> None:
    def judge(node: int, reply: Message) -> str:
        if node == 1002:
            raise RefusedReply("another model")
        if node == 1003:
            raise ZeroDivisionError
        return "right"

    grid = LoopbackGrid([echo, echo, echo, mute, echo])
    grid.kill(1005)
    collected = gather(grid, judge, deadline=0.1)
    assert collected.accepted == {1001: "right"}
    assert collected.refused == {1002: "another model"}
    assert collected.dropped == {1003: "cannot be read (ZeroDivisionError)"}
    assert collected.missing[1005] == "error 5: Node Unavailable"
    assert list(collected.missing) == [1004, 1005]


class Broken(LoopbackGrid):
    """Fails when the reply of node 1002 is put together."""

    error: BaseException = AttributeError("no such field")

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        replies = list(super().pull_messages(message_ids))
        if any(reply.metadata.src_node_id == 1002 for reply in replies):
            raise self.error
        return replies


def test_a_reply_that_cannot_be_put_together_spoils_no_other() -> None:
    collected = gather(Broken([echo] * 3))
    assert list(collected.accepted) == [1001, 1003]
    assert collected.dropped == {1002: "cannot be read (AttributeError)"}


def test_a_broken_connection_is_not_held_against_a_client() -> None:
    grid = Broken([echo] * 3)
    grid.error = ConnectionResetError("the server went away")
    with pytest.raises(ConnectionResetError):
        gather(grid)


def test_a_reply_that_is_never_whole_holds_up_no_other() -> None:
    class Stuck(LoopbackGrid):
        def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
            replies = list(super().pull_messages(message_ids))
            if any(reply.metadata.src_node_id == 1001 for reply in replies):
                time.sleep(20)
            return replies

    start = time.monotonic()
    collected = gather(Stuck([echo] * 3), deadline=0.2)
    assert time.monotonic() - start < 10
    assert list(collected.accepted) == [1002, 1003]
    assert list(collected.missing) == [1001]


class Hanging(LoopbackGrid):
    """Never hands over the replies of nodes from 1011 on, as long as it is not released."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.released = Event()

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        replies = list(super().pull_messages(message_ids))
        if any(reply.metadata.src_node_id > 1010 for reply in replies):
            self.released.wait(60)
        return replies


def test_ten_nodes_that_hang_do_not_move_the_deadline() -> None:
    grid = Hanging([echo] * 20)
    start = time.monotonic()
    collected = gather(grid, deadline=1.0)
    assert time.monotonic() - start < 2.0
    grid.released.set()
    assert list(collected.accepted) == list(range(1001, 1011))
    assert list(collected.missing) == list(range(1011, 1021))


def test_threads_do_not_grow_with_rounds_of_nodes_that_hang() -> None:
    grid, fetches, before = Hanging([echo] * 20), ReplyFetches(), threading.active_count()
    most = []
    for _ in range(100):
        collected = collect(grid, ask(grid), word, enough=10, deadline=1.0, fetches=fetches)
        most.append(threading.active_count() - before)
    assert max(most[50:]) <= max(most[:50]) <= 20
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "wola-fetch")
    assert list(collected.accepted) == list(range(1001, 1011))
    late = "no reply before the round closed; an earlier one still hangs"
    assert collected.missing == dict.fromkeys(range(1011, 1021), late)
    grid.released.set()
    back = collect(grid, ask(grid), word, enough=20, deadline=30.0, fetches=fetches)
    assert len(back.accepted) == 20


def test_messages_that_the_superlink_does_not_take_are_missing() -> None:
    class Full(LoopbackGrid):
        def push_messages(self, messages: Iterable[Message]) -> Iterable[Any]:
            return [None, *list(super().push_messages(messages))[1:]]

    class Small(LoopbackGrid):
        def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
            return []

    assert list(gather(Full([echo] * 2)).missing) == [1001]
    assert list(gather(Small([echo] * 2)).missing) == [1001, 1002]


def test_a_claimed_sender_is_not_believed() -> None:
    class Forged(LoopbackGrid):
        def answer(self, node: int, message: Message) -> Message | None:
            reply = super().answer(node, message)
            assert reply is not None
            reply.metadata.__dict__["_src_node_id"] = 1001
            return reply

    collected = gather(Forged([echo] * 3), lambda node, reply: reply.metadata.src_node_id)
    assert collected.accepted == {1001: 1001, 1002: 1001, 1003: 1001}


def test_names_of_messages_cannot_be_guessed_from_one_another() -> None:
    groups = [message.metadata.group_id for message in ask(LoopbackGrid([echo] * 3))]
    assert len(set(groups)) == 3
    assert all(group.startswith("3-") and len(group) == 34 for group in groups)


def test_replies_collected_elsewhere_go_by_the_message_they_answer() -> None:
    grid = LoopbackGrid([echo] * 3)
    messages = ask(grid)
    replies = list(grid.send_and_receive(messages))
    stray = Message(
        CONTENT, reply_to=messages_to([7], CONTENT, "query", round_number=3, deadline=1)[0]
    )
    collected = match_replies(messages, [*replies[1:], replies[1], stray], word)
    assert list(collected.accepted) == [1002, 1003]
    assert list(collected.missing) == [1001]
    assert collected.surplus == 2


def test_too_few_nodes_are_waited_for_but_not_for_ever() -> None:
    grid = LoopbackGrid([echo] * 3)
    assert wait_for_nodes(grid, at_least=3) == [1001, 1002, 1003]
    start = time.monotonic()
    assert wait_for_nodes(grid, without=[1002], at_least=3, patience=0.1) == [1001, 1003]
    assert time.monotonic() - start >= 0.1
