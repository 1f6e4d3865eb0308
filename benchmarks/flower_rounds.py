"""Rounds of a federation in one process: seconds and bytes of Flower's strategies and of wola's."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import torch
from flwr.app import ArrayRecord, Message
from flwr.serverapp.strategy import FedAvg, MultiKrum
from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects
from torch import nn

from benchmarks.flower_clients import Data, stock_client
from wola import aggregation
from wola.flower import LoopbackGrid, Recipe, WolaStrategy, generate_keypair, wola_client
from wola.mixing import NNM
from wola.models import MODELS, build, model_for
from wola.training import Scenario
from wola.training.streams import stream

CLASSES = 10
#: How many samples a client has.
SAMPLES = 1000
#: What others are compared with, and ours that the goal is about.
BASE, OURS = "Flower FedAvg", "wola NNM, trimmed mean"

#: A dataset of the paper, whose network and recipe are taken, and the shape of its inputs.
SIZES: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "digits MLP": ("digits", (1, 8, 8)),
    "Fashion-MNIST convnet": ("fashion-mnist", (1, 28, 28)),
}


@dataclass(frozen=True)
class Setting:
    """A federation to be timed: a name of `SIZES`, n, f, and the batches of a client in a round."""

    size: str
    n: int
    f: int
    local_steps: int

    @property
    def recipe(self) -> Recipe:
        """The paper's recipe for the dataset."""
        scenario = Scenario.paper(SIZES[self.size][0], local_steps=self.local_steps)
        return Recipe.of(scenario.changed(loss="wola"))

    def module(self) -> nn.Module:
        """The network, freshly initialised."""
        dataset, shape = SIZES[self.size]
        name, generator = model_for(dataset), stream(1, "initialisation")
        return build(MODELS[name], name=name, shape=shape, classes=CLASSES, generator=generator)

    def data(self, worker: int) -> Data:
        """Random samples in the shape of the dataset."""
        generator = torch.Generator().manual_seed(worker)
        inputs = torch.randn(SAMPLES, *SIZES[self.size][1], generator=generator)
        return inputs, torch.randint(CLASSES, (SAMPLES,), generator=generator)


class TimedGrid(LoopbackGrid):
    """Notes the time whenever training messages are sent, and counts bytes if it is told to.

    Bytes are those of the objects that Flower sends, over all nodes, out and in.
    """

    def __init__(self, apps: Iterable[object], *, counting: bool = False) -> None:
        super().__init__(list(apps))  # type: ignore[arg-type]
        self.counting, self.out, self.back = counting, 0, 0
        self.times: list[tuple[float, float]] = []

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        """As the grid does; one time for each round."""
        given = list(messages)
        if given and given[0].metadata.message_type == "train":
            self.times.append((time.perf_counter(), time.process_time()))
        return super().push_messages(given)

    def answer(self, node: int, message: Message) -> Message | None:
        """As the grid does."""
        reply = super().answer(node, message)
        if self.counting and message.metadata.message_type == "train" and reply is not None:
            self.out += sent(message)
            self.back += sent(reply)
        return reply

    def seconds(self) -> list[tuple[float, float]]:
        """Wall and CPU seconds from each round's messages to the next one's."""
        return [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(self.times)]


def sent(message: Message) -> int:
    """The bytes of the objects that a message is taken apart into."""
    return sum(len(item.deflate()) for item in get_all_nested_objects(message).values())


#: Runs some rounds on a new grid, which is returned.
Contender = Callable[[int, bool], TimedGrid]


def contenders(setting: Setting, folder: Path) -> dict[str, Contender]:
    """All that are compared, each with clients of its own; `folder` is for keys and momenta."""
    n, f, recipe = setting.n, setting.f, setting.recipe
    keys = [generate_keypair(folder / "keys", f"client-{i}") for i in range(n)]
    all_nodes = {"fraction_evaluate": 0.0, "min_train_nodes": n, "min_available_nodes": n}

    def stock(make: Callable[[], FedAvg]) -> Contender:
        apps = [
            stock_client(setting.module(), setting.data(i), worker=i, recipe=recipe)
            for i in range(n)
        ]

        def run(rounds: int, counting: bool) -> TimedGrid:
            grid = TimedGrid(apps, counting=counting)
            make().start(grid, ArrayRecord(setting.module().state_dict()), num_rounds=rounds)
            return grid

        return run

    def ours(rule: aggregation.Rule, *, whole: bool = False) -> Contender:
        apps = [
            wola_client(
                setting.module(),
                setting.data(i),
                classes=CLASSES,
                state=folder / "clients",
                key=keys[i][0] if whole else None,
            )
            for i in range(n)
        ]
        more = {
            "keys": [public for _, public in keys],
            "checkpoint": folder / "checkpoint.pt",
            "records": folder / "records.jsonl",
        }

        def run(rounds: int, counting: bool) -> TimedGrid:
            (folder / "checkpoint.pt").unlink(missing_ok=True)
            grid = TimedGrid(apps, counting=counting)
            strategy = WolaStrategy(
                setting.module(),
                classes=CLASSES,
                n=n,
                f=f,
                rule=rule,
                recipe=recipe,
                quorum=n,
                **(more if whole else {}),  # type: ignore[arg-type]
            )
            strategy.start(grid, num_rounds=rounds)
            return grid

        return run

    robust = NNM() | aggregation.TrimmedMean()
    chosen = {"num_malicious_nodes": f, "num_nodes_to_select": n - f}
    return {
        BASE: stock(lambda: FedAvg(**all_nodes)),  # type: ignore[arg-type]
        "Flower MultiKrum": stock(lambda: MultiKrum(**all_nodes, **chosen)),  # type: ignore[arg-type]
        "wola mean": ours(aggregation.Mean()),
        "wola MultiKrum": ours(aggregation.MultiKrum()),
        OURS: ours(robust),
        f"{OURS}; signed, checkpoint, records": ours(robust, whole=True),
    }


@contextmanager
def quiet() -> Iterator[None]:
    """Neither Flower nor the clients log anything: printing is no part of a round."""
    loggers = [logging.getLogger(name) for name in ("flwr", "flwr.wola", "wola.flower")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def measure(
    setting: Setting, folder: Path, *, turns: int, rounds: int, budget: float
) -> dict[str, dict[str, float]]:
    """Medians of wall and CPU seconds of a round, and its bytes, of every contender.

    In each turn every contender runs `rounds` + 1 rounds, so that drift meets all alike. There
    are at most `turns`, and at least two, as long as `budget` seconds are not over.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    bytes_of: dict[str, tuple[int, int]] = {}
    with quiet():
        runs = contenders(setting, folder)
        for name, run in runs.items():
            counted = run(1, True)
            bytes_of[name] = (counted.out, counted.back)
        end = time.monotonic() + budget
        for turn in range(turns):
            if turn > 1 and time.monotonic() > end:
                break
            for name, run in runs.items():
                found.setdefault(name, []).extend(run(rounds + 1, False).seconds())
    return {
        name: {
            "wall": median(wall for wall, _ in times),
            "cpu": median(cpu for _, cpu in times),
            "rounds": len(times),
            "out": bytes_of[name][0],
            "in": bytes_of[name][1],
        }
        for name, times in found.items()
    }
