"""Signed replies: whose update counts, and when."""

from pathlib import Path
from typing import Any

import pytest
import torch
from flwr.app import Message

from tests.flower.federations import NODES, accuracy, tiny_clients, tiny_strategy
from wola.aggregation import TrimmedMean
from wola.flower import LoopbackGrid, RoundRecord, generate_keypair
from wola.flower.misbehaviour import Misbehaviour
from wola.labels import Shared

LIAR = NODES[-1]


def told(record: RoundRecord) -> tuple[int, int]:
    return record.n, record.f


@pytest.fixture
def keys(tmp_path: Path) -> list[tuple[Path, Path]]:
    return [generate_keypair(tmp_path / "keys", f"client-{i}") for i in range(5)]


def signing_clients(
    tmp_path: Path, keys: list[tuple[Path, Path]], liars: dict[int, Any] | None = None
) -> Any:
    return tiny_clients(tmp_path, liars=liars, key=lambda worker: keys[worker][0])


def test_signed_updates_count_and_unsigned_ones_do_not(
    tmp_path: Path, keys: list[tuple[Path, Path]]
) -> None:
    apps = [*signing_clients(tmp_path, keys)[:4], tiny_clients(tmp_path)[4]]
    strategy = tiny_strategy(keys=[public for _, public in keys], objective=Shared())
    result = strategy.start(LoopbackGrid(apps), num_rounds=6)
    assert accuracy(result.arrays) > 0.8
    for record in strategy.records:
        assert record.dropped == {LIAR: "not signed"}
        assert told(record) == (4, 0)


class Swapping(LoopbackGrid):
    """Node 1005 replies with what node 1001 sent, as if it were its own."""

    def answer(self, node: int, message: Message) -> Message | None:
        reply = super().answer(node, message)
        assert reply is not None
        if node == NODES[0]:
            self.stolen = reply.content
        if node == LIAR:
            return Message(self.stolen, reply_to=message)
        return reply


def test_the_update_and_signature_of_another_do_not_count(
    tmp_path: Path, keys: list[tuple[Path, Path]]
) -> None:
    strategy = tiny_strategy(keys=[public for _, public in keys])
    strategy.start(Swapping(signing_clients(tmp_path, keys)), num_rounds=2)
    for record in strategy.records:
        assert "not good for this node" in record.dropped[LIAR]
        assert record.replied == tuple(NODES[:4])


def test_a_signed_reply_of_an_earlier_round_does_not_count(
    tmp_path: Path, keys: list[tuple[Path, Path]]
) -> None:
    strategy = tiny_strategy(keys=[public for _, public in keys])
    apps = signing_clients(tmp_path, keys, {4: "replay"})
    strategy.start(LoopbackGrid(apps), num_rounds=3)
    assert [LIAR in record.dropped for record in strategy.records] == [False, True, True]


def test_a_replay_with_the_round_rewritten_does_not_count(
    tmp_path: Path, keys: list[tuple[Path, Path]]
) -> None:
    class Rewriting(LoopbackGrid):
        def answer(self, node: int, message: Message) -> Message | None:
            reply = super().answer(node, message)
            assert reply is not None
            if node == LIAR:
                record = reply.content.config_records["wola"]
                self.first = getattr(self, "first", None) or reply.content.copy()
                old = self.first.copy()
                number = record["round"]
                old["wola"] = type(record)({**dict(self.first["wola"]), "round": number})
                return Message(old, reply_to=message)
            return reply

    strategy = tiny_strategy(keys=[public for _, public in keys])
    strategy.start(Rewriting(signing_clients(tmp_path, keys)), num_rounds=3)
    assert [LIAR in record.dropped for record in strategy.records] == [False, True, True]


def test_two_nodes_with_one_key_have_no_vote(tmp_path: Path, keys: list[tuple[Path, Path]]) -> None:
    pairs = [*keys[:4], keys[3]]
    strategy = tiny_strategy(n=5, f=2, rule=TrimmedMean(), keys=[public for _, public in keys])
    strategy.start(LoopbackGrid(signing_clients(tmp_path, pairs)), num_rounds=1)
    (record,) = strategy.records
    assert list(record.dropped) == [1004, 1005]
    assert told(record) == (3, 1)


def test_a_stolen_key_does_not_disarm_the_rule(
    tmp_path: Path, keys: list[tuple[Path, Path]]
) -> None:
    blow_up = Misbehaviour(update=lambda update, generator: 1e4 * torch.ones_like(update))
    keys = [*keys, *(generate_keypair(tmp_path / "more", f"client-{i}") for i in (5, 6))]
    pairs = [keys[0], keys[0], *keys[2:]]
    strategy = tiny_strategy(n=7, f=2, rule=TrimmedMean(), keys=[public for _, public in keys])
    liars = {1: "sign-flip", 6: blow_up}
    apps = tiny_clients(tmp_path, 7, liars=liars, key=lambda worker: pairs[worker][0])
    strategy.start(LoopbackGrid(apps), num_rounds=1)
    (record,) = strategy.records
    assert list(record.dropped) == [1001, 1002]
    assert told(record) == (5, 1)
    assert record.norm is not None
    assert record.norm < 10


def test_invalid_replies_of_one_key_from_several_nodes_lower_f_once(
    tmp_path: Path, keys: list[tuple[Path, Path]]
) -> None:
    pairs = [*keys[:3], keys[2], keys[2]]
    strategy = tiny_strategy(n=5, f=2, rule=TrimmedMean(), keys=[public for _, public in keys])
    liars = dict.fromkeys((2, 3, 4), "nan")
    apps = tiny_clients(tmp_path, liars=liars, key=lambda worker: pairs[worker][0])
    strategy.start(LoopbackGrid(apps), num_rounds=1)
    (record,) = strategy.records
    assert list(record.dropped) == [1003, 1004, 1005]
    assert told(record) == (2, 1)
