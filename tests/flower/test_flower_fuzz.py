"""Two thousand malformed replies: no exception, a finite model, and every one of them recorded."""

import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects
from flwr.supercore.inflatable.inflatable_utils import inflate_object_from_contents

from tests.flower.federations import tiny_strategy
from wola.flower import LoopbackGrid, WolaStrategy, wire
from wola.labels import Shared

HONEST, LIARS, SIZE = 11, 10, 15
NODES = range(1001, 1001 + HONEST + LIARS)
LIES = set(NODES[HONEST:])

VALUES: list[Any] = [
    "",
    "1.0",
    "nan",
    "\x00\x1b[2J",
    "\N{SNOWMAN}" * 50,
    0,
    -1,
    2**62,
    -(2**63),
    1.5,
    float("nan"),
    float("inf"),
    -0.0,
    b"",
    b"\xff\x00",
    True,
    [1, 2],
    [0.5, float("nan")],
    ["a", "b"],
    [b"x"],
    [True, False],
    [],
]
DTYPES = ["float64", "float16", "int8", "int64", "uint32", "bool", "complex64", "S4", "<U2", ">f4"]


def numbers(rng: random.Random) -> Any:
    """Something that a metric record may hold."""
    pool = [value for value in VALUES if type(value) in (int, float)]
    many = [rng.choice([float("nan"), -1.0, 0.5, 1e308]) for _ in range(rng.randrange(6))]
    return rng.choice([rng.choice(pool), many, [1, 2, 3], [2**40] * 3])


def random_record(rng: random.Random) -> Any:
    names = rng.sample(["update", "weights", "", "q", "\N{SNOWMAN}", "statistics"], 2)
    kind = rng.randrange(3)
    if kind == 0:
        return ConfigRecord({name: rng.choice(VALUES) for name in names})
    if kind == 1:
        return MetricRecord({name: numbers(rng) for name in names})
    return ArrayRecord({name: random_array(rng) for name in names})


def random_array(rng: random.Random) -> Array:
    if rng.random() < 0.5:
        shape = rng.choice([(), (0,), (14,), (16,), (15, 1), (3, 5), (1, 15), (2000,)])
        return Array(np.zeros(shape, dtype=rng.choice(["float32", *DTYPES])))
    dtype = rng.choice(["float32", "object", "", "\x00", "f" * 300, "float32,float32"])
    shape = rng.choice([(15,), (-15,), (2**62,), (0,), (15, 0), ()])
    stype = rng.choice(["numpy.ndarray", "pickle", "", "torch"])
    return Array(dtype, shape, stype, rng.randbytes(rng.randrange(300)))


def no_record(rng: random.Random, content: RecordDict) -> None:
    del content[rng.choice(list(content))]


def another_record(rng: random.Random, content: RecordDict) -> None:
    content[rng.choice(list(content))] = random_record(rng)


def empty(rng: random.Random, content: RecordDict) -> None:
    content.clear()


def header_value(rng: random.Random, content: RecordDict) -> None:
    record = content.config_records[wire.RECORD]
    key = rng.choice(["protocol", "federation", "run", "round", "kind"])
    fit = [value for value in VALUES if value != record[key]]
    record[key] = rng.choice(fit)


def header_missing(rng: random.Random, content: RecordDict) -> None:
    record = content.config_records[wire.RECORD]
    del record[rng.choice(["protocol", "federation", "run", "round", "kind"])]


def header_replayed(rng: random.Random, content: RecordDict) -> None:
    record = content.config_records[wire.RECORD]
    record.update(
        rng.choice([{"round": record["round"] + rng.choice([-1, 1, 100])}, {"run": "0" * 32}])
    )


def odd_refusal(rng: random.Random, content: RecordDict) -> None:
    strange = [value for value in VALUES if not isinstance(value, str)]
    content.config_records[wire.RECORD][wire.REFUSED] = rng.choice(strange)


def too_large(rng: random.Random, content: RecordDict) -> None:
    junk = rng.choice(["x" * 60_000, [1.0] * 9_000, [b"y" * 100] * 600])
    content[rng.choice(["junk", "metrics"])] = ConfigRecord({"junk": junk})


def bad_numbers(rng: random.Random, content: RecordDict) -> None:
    values = np.zeros(SIZE, dtype=np.float32)
    where = rng.sample(range(SIZE), rng.randrange(1, SIZE))
    values[where] = rng.choice([np.nan, np.inf, -np.inf])
    if rng.random() < 0.2:
        values = np.full(SIZE, 3.0e38, dtype=np.float32)
    content.array_records[wire.UPDATE][wire.UPDATE] = Array(values)


def bad_array(rng: random.Random, content: RecordDict) -> None:
    content.array_records[wire.UPDATE][wire.UPDATE] = random_array(rng)


def bad_keys(rng: random.Random, content: RecordDict) -> None:
    record = content.array_records[wire.UPDATE]
    if rng.random() < 0.5:
        record[rng.choice(["statistics", "\N{SNOWMAN}", ""])] = random_array(rng)
    else:
        record[rng.choice(["weights", "0"])] = record.pop(wire.UPDATE)


def bad_bytes(rng: random.Random, content: RecordDict) -> None:
    record = content.array_records[wire.UPDATE]
    data = record[wire.UPDATE].data
    changed = rng.choice(
        [
            data[: rng.randrange(len(data))],
            data + rng.randbytes(rng.randrange(1, 90)),
            rng.randbytes(rng.randrange(1, 128)) + data[128:],
            data.replace(b"(15,)", b"(9999999999999,)"),
            data.replace(b"<f4", b"|O8"),
            data.replace(b"False", b"True "),
        ]
    )
    record[wire.UPDATE] = Array("float32", (SIZE,), "numpy.ndarray", changed)


def bad_report(rng: random.Random, content: RecordDict) -> None:
    record = content.metric_records[wire.LABELS]
    wrong = [[0.5, 0.5], [0.5, 0.5, 0.5], [2.0, -1.0, 0.0], [float("nan"), 0.5, 0.5], [1, 0, 0]]
    record[wire.DISTRIBUTION] = rng.choice([*wrong, numbers(rng), [], [1.0] * 4000])


def bad_score(rng: random.Random, content: RecordDict) -> None:
    record = content.metric_records[wire.EVALUATION]
    key = rng.choice([wire.ACCURACY, wire.LOSS])
    record[key] = rng.choice([float("nan"), float("inf"), [1.0], 7, -(2**60)])


Mutation = Callable[[random.Random, RecordDict], None]
ANY: list[Mutation] = [
    no_record,
    another_record,
    empty,
    header_value,
    header_missing,
    header_replayed,
    odd_refusal,
    too_large,
]
MUTATIONS: dict[str, list[Mutation]] = {
    wire.TRAIN: [*ANY, bad_numbers, bad_array, bad_keys, bad_bytes],
    wire.QUERY: [*ANY, bad_report, bad_report],
    wire.EVALUATE: [*ANY, bad_score, bad_score],
}


class Fuzzing(LoopbackGrid):
    """Eleven honest nodes, and ten that send something malformed each time."""

    def __init__(self, seed: int, strategy: WolaStrategy) -> None:
        super().__init__([self.reply] * len(NODES))
        self.rng, self.strategy, self.sent = random.Random(seed), strategy, 0

    def reply(self, message: Message, context: Context) -> Message:
        header = wire.Header.of(message.content)
        fields: dict[str, Any] = {}
        content = RecordDict()
        if header.kind == wire.TRAIN:
            update = torch.full((SIZE,), 0.01 * context.node_id / 1000)
            content[wire.UPDATE] = wire.update_record(update, torch.zeros(0))
        elif header.kind == wire.QUERY:
            fields = {wire.FINGERPRINT: self.strategy.run.exchange.fingerprint}
            content[wire.LABELS] = MetricRecord({wire.DISTRIBUTION: [0.5, 0.25, 0.25]})
        else:
            content[wire.EVALUATION] = MetricRecord({wire.ACCURACY: 80.0, wire.LOSS: 0.5})
        content[wire.RECORD] = header.record(**fields)
        if context.node_config["partition-id"] >= HONEST:
            self.rng.choice(MUTATIONS[header.kind])(self.rng, content)
            self.sent += 1
        return Message(content, reply_to=message)


def fuzzed(**options: Any) -> WolaStrategy:
    return tiny_strategy(n=HONEST + LIARS, f=LIARS, **options)


def finite(strategy: WolaStrategy) -> bool:
    return bool(strategy.run.model.flat.parameters.isfinite().all())


def test_1600_malformed_updates_are_all_dropped_and_recorded() -> None:
    strategy = fuzzed()
    grid = Fuzzing(1, strategy)
    strategy.start(grid, num_rounds=160)
    assert grid.sent == 1600
    assert strategy.ending == "finished"
    assert finite(strategy)
    for record in strategy.records:
        assert set(record.dropped) == LIES
        assert (record.n, record.f, record.skipped) == (HONEST, 0, None)
        assert record.norm == pytest.approx(0.01006 * SIZE**0.5, rel=1e-5)


def test_200_malformed_reports_do_not_touch_q() -> None:
    strategy = fuzzed(objective=Shared())
    grid = Fuzzing(2, strategy)
    for _ in range(20):
        strategy.run.q = None
        strategy.run.settle_objective(grid)
        assert strategy.run.q.tolist() == pytest.approx([0.5, 0.25, 0.25])
        assert set(strategy.records[-1].dropped) == LIES
    assert grid.sent == 200


def test_200_malformed_scores_do_not_touch_the_accuracy() -> None:
    strategy = fuzzed(evaluate="federated")
    grid = Fuzzing(3, strategy)
    result = strategy.start(grid, num_rounds=20)
    assert grid.sent == 400
    for number, record in enumerate(strategy.records, 1):
        assert record.accuracy == 80.0
        assert set(record.unscored) == LIES
        assert result.evaluate_metrics_clientapp[number]["replied"] == HONEST


class Corrupting(Fuzzing):
    """Replies of liars are honest, but bytes of what travels are changed on the way."""

    def reply(self, message: Message, context: Context) -> Message:
        liar = context.node_config["partition-id"] >= HONEST
        context.node_config["partition-id"] = 0
        try:
            return super().reply(message, context)
        finally:
            context.node_config["partition-id"] = HONEST if liar else 0

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        found = list(super().pull_messages(message_ids))
        return [
            self.corrupted(reply) if reply.metadata.src_node_id in LIES else reply
            for reply in found
        ]

    def corrupted(self, message: Message) -> Message:
        objects = get_all_nested_objects(message)
        contents = {key: bytearray(item.deflate()) for key, item in objects.items()}
        for _ in range(self.rng.randrange(1, 4)):
            victim = self.rng.choice(list(contents.values()))
            victim[self.rng.randrange(len(victim))] = self.rng.randrange(256)
        self.sent += 1
        arrived: Any = inflate_object_from_contents(
            message.object_id, {key: bytes(value) for key, value in contents.items()}
        )
        arrived.metadata.__dict__["_message_id"] = "corrupted"
        return arrived


def test_400_replies_with_bytes_changed_on_the_way_raise_nothing() -> None:
    strategy = fuzzed()
    grid = Corrupting(4, strategy)
    strategy.start(grid, num_rounds=40)
    assert grid.sent == 400
    assert finite(strategy)
    for record in strategy.records:
        places = [record.replied, record.dropped, record.refused, record.missing]
        assert sorted(node for place in places for node in place) == list(NODES)
    reasons = {why for record in strategy.records for why in record.dropped.values()}
    assert any("cannot be read" in why for why in reasons)
