"""Attempts to fetch replies end on their own, whatever others do."""

import time
from threading import Event, active_count

import pytest

from wola.flower import reply_fetch
from wola.flower.reply_fetch import ReplyFetches, UnreadableReply


def test_a_node_gets_one_attempt_at_a_time() -> None:
    fetches, released = ReplyFetches(), Event()
    first = fetches.start(1, lambda: released.wait(30) and [])
    assert fetches.busy(1)
    assert fetches.start(1, list) is None
    released.set()
    assert first is not None
    fetches.wait([first], 30)
    assert first.over
    assert fetches.start(1, list) is not None


def test_attempts_behind_some_that_hang_get_their_turn() -> None:
    fetches, released = ReplyFetches(), Event()
    for node in range(30):
        fetches.start(node, lambda: released.wait(30) and [])
    last = fetches.start(30, list)
    assert last is not None
    fetches.wait([last], 10)
    assert last.over
    released.set()


def test_an_attempt_that_nobody_waits_for_any_more_still_gets_a_thread() -> None:
    fetches, released = ReplyFetches(), Event()
    for node in range(reply_fetch.THREADS):
        fetches.start(node, lambda: released.wait(30) and [])
    last = fetches.start(99, list)
    assert last is not None
    fetches.wait([last], 0.0)
    end = time.monotonic() + 10
    while fetches.busy(99) and time.monotonic() < end:
        time.sleep(0.02)
    released.set()
    assert last.over


def test_waiting_ends_when_its_time_is_over() -> None:
    fetches, released = ReplyFetches(), Event()
    fetch = fetches.start(1, lambda: released.wait(30) and [])
    assert fetch is not None
    start = time.monotonic()
    fetches.wait([fetch], 0.1)
    assert 0.1 <= time.monotonic() - start < 5
    assert not fetch.over
    released.set()


def test_threads_without_work_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_fetch, "IDLE", 0.05)
    before, fetches = active_count(), ReplyFetches()
    begun = [fetches.start(node, list) for node in range(20)]
    fetches.wait([fetch for fetch in begun if fetch], 10)
    end = time.monotonic() + 10
    while active_count() > before and time.monotonic() < end:
        time.sleep(0.02)
    assert active_count() <= before
    again = fetches.start(1, list)
    assert again is not None
    fetches.wait([again], 10)
    assert again.over


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (AttributeError("no such field"), UnreadableReply),
        (ConnectionResetError("gone"), ConnectionResetError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_errors_come_out_where_replies_are_asked_for(
    raised: BaseException, expected: type[BaseException]
) -> None:
    def pull() -> list[object]:
        raise raised

    fetches = ReplyFetches()
    fetch = fetches.start(1, pull)
    assert fetch is not None
    fetches.wait([fetch], 10)
    with pytest.raises(expected):
        fetch.replies()
