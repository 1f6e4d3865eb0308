"""The one-process grid behaves as Flower's own does, as far as an app can tell."""

import time

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg
from flwr.supercore.run import Run

from tests.flower.federations import FEATURES
from wola.flower import LoopbackGrid
from wola.flower.loopback import identify_process, transported


def echo(message: Message, context: Context) -> Message:
    return Message(message.content, reply_to=message)


def hello(node: int) -> Message:
    return Message(RecordDict({"c": ConfigRecord({"word": "hello"})}), node, "query")


def test_what_arrives_is_a_copy_made_from_bytes() -> None:
    identify_process()
    values = np.arange(5, dtype=np.float32)
    record = RecordDict({"a": ArrayRecord({"x": Array(values), "same": Array(values)})})
    sent = Message(record, 1001, "train", group_id="7")
    arrived = transported(sent)
    assert arrived.content is not sent.content
    assert np.array_equal(arrived.content.array_records["a"]["same"].numpy(), values)
    assert arrived.metadata.group_id == "7"
    assert arrived.metadata.created_at == sent.metadata.created_at


def test_every_node_answers_its_own_message_and_knows_its_partition() -> None:
    def partition(message: Message, context: Context) -> Message:
        record = ConfigRecord({"id": context.node_config["partition-id"]})
        return Message(RecordDict({"c": record}), reply_to=message)

    grid = LoopbackGrid([partition, partition])
    replies = grid.send_and_receive([hello(node) for node in grid.get_node_ids()])
    found = {r.metadata.src_node_id: r.content.config_records["c"]["id"] for r in replies}
    assert found == {1001: 0, 1002: 1}


def test_state_of_a_node_lasts_from_message_to_message() -> None:
    def count(message: Message, context: Context) -> Message:
        seen = context.state.setdefault("seen", ConfigRecord({"n": 0}))
        seen["n"] += 1
        return Message(RecordDict({"c": ConfigRecord(dict(seen))}), reply_to=message)

    grid = LoopbackGrid([count])
    for expected in (1, 2):
        (reply,) = grid.send_and_receive([hello(1001)])
        assert reply.content.config_records["c"]["n"] == expected


def test_an_app_that_raises_gives_an_error_reply_and_one_that_exits_gives_none() -> None:
    def fail(message: Message, context: Context) -> Message:
        raise RuntimeError("broken")

    def leave(message: Message, context: Context) -> Message:
        raise SystemExit(1)

    grid = LoopbackGrid([fail, leave])
    (reply,) = grid.send_and_receive([hello(1001), hello(1002)], timeout=0.05)
    assert reply.error.code == 2
    assert "broken" in str(reply.error.reason)


def test_a_killed_node_is_listed_and_the_superlink_answers_for_it() -> None:
    grid = LoopbackGrid([echo, echo])
    grid.kill(1002)
    message = hello(1002)
    (reply,) = grid.send_and_receive([message])
    assert list(grid.get_node_ids()) == [1001, 1002]
    assert (reply.error.code, reply.metadata.src_node_id) == (5, 1)
    assert reply.metadata.reply_to_message_id == message.metadata.message_id


def test_nodes_leave_and_join() -> None:
    grid = LoopbackGrid([echo, echo])
    grid.leave(1001)
    assert list(grid.get_node_ids()) == [1002]
    grid.join(1009, echo)
    (reply,) = grid.send_and_receive([hello(1009)])
    assert reply.metadata.src_node_id == 1009


def test_a_node_in_the_background_keeps_nobody_waiting() -> None:
    def slow(message: Message, context: Context) -> Message:
        time.sleep(0.2)
        return echo(message, context)

    grid = LoopbackGrid([slow, echo], background=[1001])
    ids = list(grid.push_messages([hello(1001), hello(1002)]))
    assert [r.metadata.src_node_id for r in grid.pull_messages(ids)] == [1002]
    time.sleep(0.4)
    assert [r.metadata.src_node_id for r in grid.pull_messages(ids)] == [1001]
    assert list(grid.pull_messages(ids)) == []


def test_the_strategies_of_flower_run_on_it() -> None:
    def train(message: Message, context: Context) -> Message:
        arrays = ArrayRecord([np.full(FEATURES, 2.0, dtype=np.float32)])
        metrics = MetricRecord({"num-examples": 3})
        return Message(RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)

    grid = LoopbackGrid([train, train])
    start = ArrayRecord([np.zeros(FEATURES, dtype=np.float32)])
    result = FedAvg(fraction_evaluate=0.0).start(grid, start, num_rounds=1)
    assert result.arrays.to_numpy_ndarrays()[0] == pytest.approx(2.0)


def test_it_has_what_flower_asks_of_a_grid() -> None:
    grid = LoopbackGrid([echo])
    message = grid.create_message(RecordDict(), "query", 1001, "9")
    assert (message.metadata.dst_node_id, message.metadata.group_id) == (1001, "9")
    run = Run.create_empty(77)
    grid.set_run(run)
    assert grid.run.run_id == 77
