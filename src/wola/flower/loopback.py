"""A whole federation in one process: a Grid whose messages go through Flower's serialisation."""

from collections.abc import Callable, Collection, Iterable, Sequence
from threading import Lock, Thread
from time import monotonic, sleep

from flwr.app import Context, Error, Message, RecordDict, UserConfig
from flwr.clientapp import ClientApp
from flwr.common.constant import SUPERLINK_NODE_ID, ErrorCode
from flwr.serverapp import Grid
from flwr.supercore.inflatable.inflatable_object import (
    get_all_nested_objects,
    no_object_id_recompute,
)
from flwr.supercore.inflatable.inflatable_utils import inflate_object_from_contents
from flwr.supercore.run import Run
from flwr.supercore.task_identity import TaskIdentity

#: The id of the first node; Flower's own nodes have large random ones, and 1 is the SuperLink.
FIRST_NODE = 1001

App = Callable[[Message, Context], Message] | ClientApp


class LoopbackGrid(Grid):
    """A Flower Grid for tests: every client app is called in this process, without a network.

    Each message, both ways, is taken apart into the objects that Flower sends and put together
    again from their bytes, so that what arrives is what would arrive over HTTP. The client apps
    are the nodes 1001, 1002, ... in the order given, with their index as ``partition-id`` in
    ``node_config``. They answer one after another as soon as a message is pushed, except for
    those in `background`, which answer in a thread of their own, in their own time. An app that
    raises gives Flower's error reply, one that exits gives none. `kill` takes a node away
    as a crash does: it is listed still, and messages to it are answered by the SuperLink with
    error 5. `leave` takes it off the list, `join` brings one.

    >>> app = ClientApp()
    >>> @app.query()
    ... def answer(message: Message, context: Context) -> Message:
    ...     return Message(RecordDict(), reply_to=message)
    >>> grid = LoopbackGrid([app])
    >>> replies = grid.send_and_receive([Message(RecordDict(), 1001, "query")])
    >>> [reply.metadata.src_node_id for reply in replies]
    [1001]
    """

    def __init__(
        self,
        apps: Sequence[App],
        *,
        run_config: UserConfig | None = None,
        background: Collection[int] = (),
    ) -> None:
        identify_process()
        self.apps: dict[int, App] = {}
        self.contexts: dict[int, Context] = {}
        self.background = frozenset(background)
        self._run_config = dict(run_config or {})
        self._run = Run.create_empty(TaskIdentity.run_id)
        self._killed: set[int] = set()
        self._replies: dict[str, Message] = {}
        self._lock = Lock()
        for i, app in enumerate(apps):
            self.join(FIRST_NODE + i, app, {"partition-id": i, "num-partitions": len(apps)})

    def join(self, node: int, app: App, node_config: UserConfig | None = None) -> None:
        """Brings a node, or brings it back; its state is what it was."""
        self.apps[node] = app
        self._killed.discard(node)
        if node not in self.contexts:
            run_id = self._run.run_id
            config = dict(node_config or {})
            self.contexts[node] = Context(run_id, node, config, RecordDict(), self._run_config)

    def leave(self, node: int) -> None:
        """Takes a node off the list."""
        del self.apps[node]

    def kill(self, node: int) -> None:
        """Lets a node die unnoticed: it stays on the list until it leaves."""
        self._killed.add(node)

    def answer(self, node: int, message: Message) -> Message | None:
        """What a node replies to a message; None: nothing. Override it to change replies."""
        try:
            return self.apps[node](message, self.contexts[node])
        except SystemExit:
            return None
        except Exception as error:
            code = ErrorCode.CLIENT_APP_RAISED_EXCEPTION
            return Message(Error(code, f"{type(error)}:<'{error}'>"), reply_to=message)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        """Hands every message to its node; the ids under which replies are pulled."""
        ids = []
        for message in messages:
            identifier = message.object_id
            message.metadata.__dict__["_message_id"] = identifier
            node = message.metadata.dst_node_id
            if node in self.background and node not in self._killed:
                arguments = (node, identifier, transported(message))
                Thread(target=self._deliver, args=arguments, daemon=True).start()
            else:
                self._deliver(node, identifier, transported(message))
            ids.append(identifier)
        return ids

    def _deliver(self, node: int, identifier: str, message: Message) -> None:
        gone = node in self._killed or node not in self.apps
        reply = _unavailable(message) if gone else self.answer(node, message)
        if reply is not None:
            with self._lock:
                self._replies.setdefault(identifier, reply)

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        """The replies to these messages that are there; each one is handed out once."""
        with self._lock:
            found = [self._replies.pop(i) for i in message_ids if i in self._replies]
        return [transported(reply) for reply in found]

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        """Pushes the messages and pulls until all are answered or the time is over."""
        waiting = list(self.push_messages(messages))
        end = float("inf") if timeout is None else monotonic() + timeout
        replies: list[Message] = []
        while waiting:
            found = list(self.pull_messages(waiting))
            replies += found
            answered = {reply.metadata.reply_to_message_id for reply in found}
            waiting = [identifier for identifier in waiting if identifier not in answered]
            if not waiting or monotonic() >= end:
                break
            sleep(0.01)
        return replies

    def get_node_ids(self) -> Iterable[int]:
        """The nodes on the list."""
        return list(self.apps)

    def set_run(self, run: Run) -> None:
        """Sets what `run` says."""
        self._run = run

    @property
    def run(self) -> Run:
        """What Flower knows of the run."""
        return self._run

    def create_message(
        self,
        content: RecordDict,
        message_type: str,
        dst_node_id: int,
        group_id: str,
        ttl: float | None = None,
    ) -> Message:
        """A message from the server, as Flower's grids make it."""
        return Message(content, dst_node_id, message_type, ttl=ttl, group_id=group_id)


def identify_process() -> None:
    """Gives this process the identity without which Flower makes no message, if it has none."""
    names = {"task_id": 1, "run_id": 1, "node_id": SUPERLINK_NODE_ID}
    for name, value in names.items():
        try:
            getattr(TaskIdentity, name)
        except RuntimeError:
            setattr(TaskIdentity, name, value)


def _unavailable(message: Message) -> Message:
    reply = Message(Error(ErrorCode.NODE_UNAVAILABLE, "Node Unavailable"), reply_to=message)
    reply.metadata.__dict__["_src_node_id"] = SUPERLINK_NODE_ID
    return reply


def transported(message: Message) -> Message:
    """The message as it arrives: from the bytes of the objects that Flower sends.

    Identical objects within a message are sent once, as over HTTP.
    """
    with no_object_id_recompute():
        objects = get_all_nested_objects(message)
        contents = {key: item.deflate() for key, item in objects.items()}
        arrived = inflate_object_from_contents(message.object_id, contents)
    assert isinstance(arrived, Message)
    arrived.metadata.__dict__["_message_id"] = message.metadata.message_id
    return arrived
