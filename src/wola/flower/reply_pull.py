"""One reply from the SuperLink: its objects, measured before Flower makes anything of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

from flwr.app import Message
from flwr.proto.message_pb2 import ConfirmMessageReceivedRequest
from flwr.proto.runtime_pb2 import PullAppMessagesRequest
from flwr.serverapp import Grid
from flwr.supercore.inflatable.inflatable_object import (
    get_object_type_from_object_content,
    iterate_object_tree,
)
from flwr.supercore.inflatable.inflatable_protobuf_utils import make_pull_object_fn_protobuf
from flwr.supercore.inflatable.inflatable_utils import (
    ObjectPullError,
    inflate_object_from_contents,
    pull_objects,
)
from flwr.superlink.grid.http_grid import HttpGrid
from httpx import HTTPStatusError, codes

#: The smallest pieces, in bytes, in which an array may be sent; Flower's own have 5 MiB.
SMALLEST_PIECE = 64 * 1024

#: Objects of a reply beyond the pieces of its arrays.
FEW = 64

#: Bytes that an object needs for its own name and that of a piece of it.
NAMES = 160

#: Seconds, at most, between two looks for an object that is not uploaded yet.
LONGEST_LOOK = 1.0


class OversizedReply(Exception):
    """A reply that is larger than any that was asked for."""


class LostReply(Exception):
    """A reply that was announced and never came whole."""


@dataclass(frozen=True)
class ReplyLimits:
    """What a reply may have: bytes of arrays, bytes of all else, and objects they are sent in.

    Putting keys together costs Flower about 70 microseconds each: 200,000 of them, 3 MB, took 14 s.

    >>> ReplyLimits(arrays=704_456, records=32_768).objects
    74
    """

    arrays: int
    records: int

    @property
    def objects(self) -> int:
        """The largest number of objects."""
        return FEW + self.arrays // SMALLEST_PIECE

    def check_count(self, count: int) -> None:
        """An `OversizedReply` if these are too many objects."""
        if count > self.objects:
            raise OversizedReply(f"{count} objects; allowed: at most {self.objects}")

    def check(self, contents: Mapping[str, bytes]) -> None:
        """An `OversizedReply` if the objects are too many or too large."""
        self.check_count(len(contents))
        sizes = {"arrays": 0, "records": 0}
        for content in contents.values():
            piece = get_object_type_from_object_content(content) == "ArrayChunk"
            sizes["arrays" if piece else "records"] += len(content)
        # Only arrays that were sent make room for the names of their pieces among the records.
        names = NAMES * (FEW + min(sizes["arrays"], self.arrays) // SMALLEST_PIECE)
        limits = {"arrays": self.arrays + NAMES * self.objects, "records": self.records + names}
        for what, most in limits.items():
            if sizes[what] > most:
                raise OversizedReply(f"{sizes[what]} bytes of {what}; allowed: at most {most}")


def pull_reply(
    grid: Grid, identifier: str, limits: ReplyLimits | None, *, seconds: float
) -> list[Message]:
    """The reply to a message: a list of one, or of none if there is none yet.

    Of a SuperLink the objects of a reply are fetched here rather than by Flower, which waits up to
    two hours for one that is not whole and puts one of any size together: here it takes `seconds`
    and what `limits` allow. Any other grid is simply asked.
    """
    if not isinstance(grid, HttpGrid):
        return list(grid.pull_messages([identifier]))
    client, run = grid._runtime_client, grid.run.run_id
    try:
        answer = client.PullMessages(PullAppMessagesRequest(message_ids=[identifier]))
    except HTTPStatusError as error:
        if error.response.status_code == codes.REQUEST_ENTITY_TOO_LARGE:
            return []
        raise
    replies = []
    for proto, tree in zip(answer.messages_list, answer.message_object_trees, strict=True):
        name = proto.metadata.message_id
        received = ConfirmMessageReceivedRequest(node=grid.node, run_id=run, message_object_id=name)
        names = [each.object_id for each in iterate_object_tree(tree)]
        pull = make_pull_object_fn_protobuf(client.PullObject, node=grid.node, run_id=run)
        try:
            if limits is not None:
                limits.check_count(len(names))
            contents = pull_objects(
                names,
                pull if limits is None else _Metered(pull, limits),
                max_time=seconds,
                backoff_cap=LONGEST_LOOK,
            )
            if limits is not None:
                limits.check(contents)
        except ObjectPullError as error:
            raise LostReply("its reply did not come whole") from error
        except OversizedReply:
            client.ConfirmMessageReceived(received)
            raise
        client.ConfirmMessageReceived(received)
        message = inflate_object_from_contents(name, contents)
        if not isinstance(message, Message):
            raise TypeError(f"{type(message).__name__} in place of a Message")
        message.metadata.__dict__["_message_id"] = name
        replies.append(message)
    return replies


class _Metered:
    """Fetches objects until they are more bytes than a reply may have."""

    def __init__(self, pull: Callable[[str], bytes], limits: ReplyLimits) -> None:
        self._pull, self._lock = pull, Lock()
        self._most = limits.arrays + limits.records + 2 * NAMES * limits.objects
        self._total = 0

    def __call__(self, name: str) -> bytes:
        content = self._pull(name)
        with self._lock:
            self._total += len(content)
            if self._total > self._most:
                raise OversizedReply(f"more than {self._most} bytes; allowed: that many")
        return content
