"""A reply from a SuperLink is measured before anything is made of it, and not waited for long."""

import time
from typing import Any

import httpx
import pytest
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, RecordDict
from flwr.app.message import remove_content_from_message
from flwr.common.serde import message_to_proto
from flwr.proto.message_pb2 import PullObjectResponse
from flwr.proto.runtime_pb2 import PullAppMessagesResponse
from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects, get_object_tree
from flwr.supercore.run import Run
from flwr.superlink.grid.http_grid import HttpGrid

from wola.flower import reply_pull, wire
from wola.flower.collect import collect, messages_to
from wola.flower.loopback import identify_process
from wola.flower.reply_checks import Expected
from wola.flower.reply_fetch import ReplyFetches
from wola.flower.reply_pull import LostReply, OversizedReply, ReplyLimits, pull_reply
from wola.flower.wire import Header

LIMITS = Expected(
    Header("lab", "a" * 32, 4, wire.TRAIN), "f" * 64, parameters=1000, statistics=0, classes=3
).limits


class SuperLink(HttpGrid):
    """A grid over HTTP whose SuperLink is here, and holds one reply."""

    def __init__(self, content: RecordDict, *, missing: bool = False) -> None:
        super().__init__(insecure=True, token="token")
        identify_process()
        self.set_run(Run.create_empty(1))
        (asked,) = messages_to([7], RecordDict(), "train", round_number=1, deadline=9.0)
        asked.metadata.__dict__["_message_id"] = asked.object_id
        reply = Message(content, reply_to=asked)
        reply.metadata.__dict__["_message_id"] = reply.object_id
        self.tree = get_object_tree(reply)
        self.objects = {key: each.deflate() for key, each in get_all_nested_objects(reply).items()}
        self.proto = message_to_proto(remove_content_from_message(reply))
        self.missing, self.pulled, self.confirmed = missing, 0, 0

    @property
    def _runtime_client(self) -> Any:
        return self

    def push_messages(self, messages: Any) -> list[str]:
        return ["asked" for _ in messages]

    def PullMessages(self, request: Any) -> PullAppMessagesResponse:  # noqa: N802
        return PullAppMessagesResponse(messages_list=[self.proto], message_object_trees=[self.tree])

    def PullObject(self, request: Any) -> PullObjectResponse:  # noqa: N802
        self.pulled += 1
        return PullObjectResponse(
            object_found=True,
            object_available=not self.missing,
            object_content=b"" if self.missing else self.objects[request.object_id],
        )

    def ConfirmMessageReceived(self, request: Any) -> None:  # noqa: N802
        self.confirmed += 1


def honest() -> RecordDict:
    return RecordDict(
        {
            wire.RECORD: ConfigRecord({"round": 4, "signature": bytes(64)}),
            wire.UPDATE: wire.update_record(torch.arange(1000.0), torch.zeros(0)),
        }
    )


def test_an_honest_reply_comes_out_as_it_went_in() -> None:
    grid = SuperLink(honest())
    (reply,) = pull_reply(grid, "asked", LIMITS, seconds=5.0)
    assert reply.content == honest()
    assert reply.metadata.message_id == grid.proto.metadata.message_id
    assert grid.confirmed == 1


def with_record(record: Any) -> RecordDict:
    return RecordDict({**dict(honest()), "more": record})


TOO_LARGE = {
    "keys": with_record(ConfigRecord({f"{i:x}": 1 for i in range(10_000)})),
    "bytes": with_record(ConfigRecord({"ballast": bytes(2_000_000)})),
    "list": with_record(ConfigRecord({"ballast": [0.5] * 20_000})),
    "array": with_record(ArrayRecord({"a": Array(torch.zeros(50_000).numpy())})),
    "arrays": with_record(
        ArrayRecord({f"{i}": Array(torch.tensor([i]).numpy()) for i in range(200)})
    ),
    "records": RecordDict({f"{i}": ConfigRecord({"i": i}) for i in range(200)}),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_reply_that_is_too_large_is_refused_before_it_is_put_together(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put_together(*arguments: Any) -> None:
        raise AssertionError("it was put together")

    monkeypatch.setattr(reply_pull, "inflate_object_from_contents", put_together)
    grid = SuperLink(TOO_LARGE[name])
    start = time.process_time()
    with pytest.raises(OversizedReply, match="allowed: "):
        pull_reply(grid, "asked", LIMITS, seconds=5.0)
    assert time.process_time() - start < 1.0
    assert grid.confirmed == 1


def test_too_many_objects_are_not_even_fetched() -> None:
    grid = SuperLink(TOO_LARGE["records"])
    with pytest.raises(OversizedReply, match="objects; allowed: at most"):
        pull_reply(grid, "asked", LIMITS, seconds=5.0)
    assert grid.pulled == 0


def test_keys_are_counted_apart_from_arrays_however_large_the_model_is() -> None:
    large = ReplyLimits(arrays=10**9, records=32_768)
    with pytest.raises(OversizedReply, match="bytes of records"):
        large.check(SuperLink(TOO_LARGE["keys"]).objects)


def test_the_round_drops_it_and_says_why() -> None:
    grid = SuperLink(TOO_LARGE["keys"])
    messages = messages_to([7], RecordDict(), "train", round_number=1, deadline=9.0)
    collected = collect(
        grid,
        messages,
        lambda node, reply: reply,
        enough=1,
        deadline=9.0,
        fetches=ReplyFetches(),
        limits=LIMITS,
    )
    assert "allowed: " in collected.dropped[7]


def test_a_reply_that_never_comes_whole_is_given_up_in_time() -> None:
    start = time.monotonic()
    with pytest.raises(LostReply, match="did not come whole"):
        pull_reply(SuperLink(honest(), missing=True), "asked", LIMITS, seconds=0.2)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("status", [413, 503])
def test_an_answer_of_the_superlink_is_not_held_against_a_client(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = httpx.Request("POST", "http://localhost")

    def refuse(self: SuperLink, asked: Any) -> None:
        raise httpx.HTTPStatusError(
            "no", request=request, response=httpx.Response(status, request=request)
        )

    monkeypatch.setattr(SuperLink, "PullMessages", refuse)
    if status == 413:
        assert pull_reply(SuperLink(honest()), "asked", LIMITS, seconds=1.0) == []
        return
    with pytest.raises(httpx.HTTPStatusError):
        pull_reply(SuperLink(honest()), "asked", LIMITS, seconds=1.0)
