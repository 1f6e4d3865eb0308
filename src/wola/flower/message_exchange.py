"""The messages of a run: what the server sends to its clients, and which replies count."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from flwr.app import ArrayRecord, ConfigRecord, ConfigRecordValues, Message, RecordDict
from flwr.serverapp import Grid

from wola.flower import wire
from wola.flower.collect import (
    Collected,
    collect,
    match_replies,
    messages_to,
    wait_for_nodes,
)
from wola.flower.content_size import content_size
from wola.flower.reply_checks import Expected, LabelReport, Score, Update
from wola.flower.reply_fetch import ReplyFetches
from wola.flower.settings import StrategySettings
from wola.flower.votes import one_vote_per_key
from wola.flower.wire import Header

_V = TypeVar("_V", Update, LabelReport, Score)

#: What makes something of a node's reply, given what was asked.
Reader = Callable[[int, Message, Expected], _V]


class MessageExchange:
    """The messages of one run: who is sent what, and what counts as a reply.

    `run` is the lineage of the run, `sizes` d and s of the model, `refused` the nodes that cannot
    take part in this run, and why. `prepared` holds the last messages of each kind.
    """

    def __init__(
        self, settings: StrategySettings, run: str, fingerprint: str, sizes: tuple[int, int]
    ) -> None:
        self.settings, self.run = settings, run
        self.fingerprint, self.sizes = fingerprint, sizes
        self.refused: dict[int, str] = {}
        self.prepared: dict[str, list[Message]] = {}
        self._fetches = ReplyFetches()

    def prepare(
        self,
        grid: Grid,
        kind: str,
        round_number: int,
        *,
        model: ArrayRecord | None = None,
        config: ConfigRecord | None = None,
        **fields: ConfigRecordValues,
    ) -> list[Message]:
        """Makes the messages of a kind to all nodes that take part; waits a while for enough."""
        header = Header(self.settings.federation, self.run, round_number, kind)
        content = RecordDict({wire.RECORD: header.record(**fields)})
        if model is not None:
            content[wire.MODEL] = model
        if config:
            content["config"] = config
        deadline, least = self.settings.deadline, self.settings.least_updates
        nodes = wait_for_nodes(grid, without=self.refused, at_least=least, patience=deadline)
        self.prepared[kind] = messages_to(
            nodes, content, kind, round_number=round_number, deadline=deadline
        )
        return self.prepared[kind]

    def collect(
        self, grid: Grid, kind: str, round_number: int, reader: Reader[_V], *, enough: int
    ) -> Collected[_V]:
        """Sends the prepared messages and reads the replies until there are enough."""
        expected = self._expected(kind, round_number)
        collected = collect(
            grid,
            self.prepared[kind],
            lambda node, reply: reader(node, reply, expected),
            enough=enough,
            deadline=self.settings.deadline,
            fetches=self._fetches,
            limits=expected.limits,
        )
        return self._counted(collected)

    def read(
        self, kind: str, round_number: int, reader: Reader[_V], replies: Iterable[Message]
    ) -> Collected[_V]:
        """Reads replies to the prepared messages that somebody else collected."""
        expected = self._expected(kind, round_number)
        prepared = self.prepared.get(kind, [])
        collected = match_replies(
            prepared, replies, lambda node, reply: reader(node, reply, expected)
        )
        return self._counted(collected)

    def bytes_out(self, kind: str) -> int:
        """The size of the last messages of a kind, over all nodes."""
        prepared = self.prepared.get(kind, [])
        return len(prepared) * content_size(prepared[0].content) if prepared else 0

    def _counted(self, collected: Collected[_V]) -> Collected[_V]:
        one_vote_per_key(collected)
        self.refused |= collected.refused
        return collected

    def _expected(self, kind: str, round_number: int) -> Expected:
        settings = self.settings
        header = Header(settings.federation, self.run, round_number, kind)
        return Expected(
            header, self.fingerprint, *self.sizes, settings.classes, settings.public_keys
        )
