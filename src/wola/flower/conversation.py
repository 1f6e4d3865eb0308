"""What the server says to the clients of a run, and what it hears from them."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from flwr.app import ArrayRecord, ConfigRecord, ConfigRecordValues, Message, RecordDict
from flwr.serverapp import Grid

from wola.flower import wire
from wola.flower.collect import Collected, collect, matched, present, requests
from wola.flower.content import size_of
from wola.flower.settings import Settings
from wola.flower.validate import Expected, Report, Score, Update, one_vote_per_key
from wola.flower.wire import Header

V = TypeVar("V", Update, Report, Score)

#: What makes something of a node's reply, given what was asked.
Reader = Callable[[int, Message, Expected], V]


class Conversation:
    """One run's talk with its clients: who is asked, what is sent, what counts as a reply.

    `run` is the lineage of the run, `sizes` d and s of the model, `refused` the nodes that cannot
    take part in this run, and why.
    """

    def __init__(self, settings: Settings, run: str, fingerprint: str, sizes: tuple[int, int]):
        self.settings, self.run = settings, run
        self.fingerprint, self.sizes = fingerprint, sizes
        self.refused: dict[int, str] = {}
        self.asked: dict[str, list[Message]] = {}

    def ask(
        self,
        grid: Grid,
        kind: str,
        round_number: int,
        *,
        model: ArrayRecord | None = None,
        config: ConfigRecord | None = None,
        **fields: ConfigRecordValues,
    ) -> list[Message]:
        """The messages of a kind to all nodes that take part, waiting a while if they are few."""
        header = Header(self.settings.federation, self.run, round_number, kind)
        content = RecordDict({wire.RECORD: header.record(**fields)})
        if model is not None:
            content[wire.MODEL] = model
        if config:
            content["config"] = config
        deadline, least = self.settings.deadline, self.settings.least
        nodes = present(grid, without=self.refused, at_least=least, patience=deadline)
        self.asked[kind] = requests(
            content, nodes, kind, round_number=round_number, deadline=deadline
        )
        return self.asked[kind]

    def hear(
        self, grid: Grid, kind: str, round_number: int, reader: Reader[V], *, enough: int
    ) -> Collected[V]:
        """Sends what was asked last and reads the replies until there are enough."""
        expected = self._expected(kind, round_number)
        collected = collect(
            grid,
            self.asked[kind],
            lambda node, reply: reader(node, reply, expected),
            enough=enough,
            deadline=self.settings.deadline,
        )
        return self._counted(collected)

    def read(
        self, kind: str, round_number: int, reader: Reader[V], replies: Iterable[Message]
    ) -> Collected[V]:
        """Reads the replies, which somebody else collected, to what was asked last."""
        expected = self._expected(kind, round_number)
        asked = self.asked.get(kind, [])
        collected = matched(asked, replies, lambda node, reply: reader(node, reply, expected))
        return self._counted(collected)

    def bytes_out(self, kind: str) -> int:
        """The size of what was asked last, over all nodes."""
        asked = self.asked.get(kind, [])
        return len(asked) * size_of(asked[0].content) if asked else 0

    def _counted(self, collected: Collected[V]) -> Collected[V]:
        one_vote_per_key(collected)
        self.refused |= collected.refused
        return collected

    def _expected(self, kind: str, round_number: int) -> Expected:
        settings = self.settings
        header = Header(settings.federation, self.run, round_number, kind)
        return Expected(header, self.fingerprint, *self.sizes, settings.classes, settings.keys)
