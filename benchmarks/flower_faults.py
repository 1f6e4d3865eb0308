"""What one client does to a run, under Flower's own strategies and under wola's."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from flwr.app import ArrayRecord
from flwr.serverapp.strategy import (
    Bulyan,
    FedAvg,
    FedMedian,
    FedTrimmedAvg,
    Krum,
    MultiKrum,
    Result,
)
from torch import nn

from benchmarks.flower_clients import stock_client
from benchmarks.flower_faulty import (
    FAULTS,
    LIAR,
    NOTHING,
    ROUNDS,
    TIMEOUT,
    F,
    Fault,
    FaultyGrid,
    N,
    Waiting,
)
from benchmarks.flower_rounds import CLASSES, quiet
from wola.flower import (
    Recipe,
    RoundRecord,
    WolaStrategy,
    generate_keypair,
    wola_client,
)
from wola.models import FlatModel, build, mlp
from wola.training import Scenario, assemble
from wola.training.evaluate import evaluate
from wola.training.streams import stream

LOCAL_STEPS = 20
#: Percent of accuracy below that of the run without a fault which make it count as followed.
HARM = 10.0
OURS = "wola"

STOCK: Mapping[str, Callable[..., FedAvg]] = {
    "FedAvg": FedAvg,
    "FedMedian": FedMedian,
    "FedTrimmedAvg": lambda **more: FedTrimmedAvg(beta=0.2, **more),
    "Krum": lambda **more: Krum(num_malicious_nodes=F, **more),
    "MultiKrum": lambda **more: MultiKrum(num_malicious_nodes=F, num_nodes_to_select=N - F, **more),
    "Bulyan": lambda **more: Bulyan(num_malicious_nodes=F, **more),
}


class Federation:
    """Digits on eight clients with different label mixes, for both kinds of client."""

    def __init__(self, folder: Path) -> None:
        scenario = Scenario.paper("digits", workers=N, byzantine=F, alpha=1.0, attack="none")
        self.whole = assemble(scenario)
        self.folder = folder
        self.recipe = Recipe(
            lr=0.2, schedule="constant", beta=0.0, batch=32, local_steps=LOCAL_STEPS
        )
        self.keys = [generate_keypair(folder / "keys", f"client-{i}") for i in range(N)]

    def module(self) -> nn.Module:
        """The network, freshly initialised."""
        generator = stream(1, "initialisation")
        return build(mlp, name="mlp", shape=(1, 8, 8), classes=CLASSES, generator=generator)

    def data(self, worker: int) -> tuple[torch.Tensor, torch.Tensor]:
        """A client's samples."""
        rows = self.whole.shards[worker]
        return self.whole.inputs[rows], self.whole.dataset.y_train[rows]

    def accuracy(self, arrays: ArrayRecord) -> float:
        """Percent of the test set that the model gets right; NaN if it is not finite."""
        state = {name: value.float() for name, value in arrays.to_torch_state_dict().items()}
        if not all(bool(value.isfinite().all()) for value in state.values()):
            return math.nan
        module = self.module()
        module.load_state_dict(state)
        return evaluate(FlatModel(module), self.whole.test, 0).accuracy

    def run_stock(self, name: str, fault: Fault) -> tuple[FaultyGrid, Result]:
        """A run of one of Flower's strategies, waiting for all clients as they are set to."""
        apps = [
            stock_client(
                self.module(),
                self.data(i),
                worker=i,
                recipe=self.recipe,
                lie=fault.lie if i == N - 1 else None,
            )
            for i in range(N)
        ]
        grid = fault.grid(apps, background=[LIAR] if fault.slow else [])
        strategy = STOCK[name](fraction_evaluate=0.0, min_train_nodes=N, min_available_nodes=N)
        arrays = ArrayRecord(self.module().state_dict())
        return grid, strategy.start(grid, arrays, num_rounds=fault.rounds, timeout=TIMEOUT)

    def run_ours(self, fault: Fault) -> tuple[Result, WolaStrategy]:
        """A run of `WolaStrategy` with its own rule and quorum, and signatures."""
        apps = [
            wola_client(
                self.module(),
                self.data(i),
                classes=CLASSES,
                state=self.folder / "clients",
                key=self.keys[i][0],
                misbehave=fault.lie.ours if fault.lie is not None and i == N - 1 else None,
            )
            for i in range(N)
        ]
        grid = fault.grid(apps, background=[LIAR] if fault.slow else [])
        strategy = WolaStrategy(
            self.module(),
            classes=CLASSES,
            n=N,
            f=F,
            recipe=self.recipe,
            deadline=TIMEOUT,
            patience=TIMEOUT,
            keys=[public for _, public in self.keys],
        )
        return strategy.start(grid, num_rounds=fault.rounds), strategy


def outcome(accuracy: float | None, without: float, timeouts: int) -> str:
    """What became of a run that ended by itself, in words.

    >>> outcome(91.0, 93.0, 2), outcome(20.0, 93.0, 0), outcome(math.nan, 93.0, 0)
    ('ran on, 2 rounds until the timeout', 'followed the liar: 20 %', 'model NaN')
    """
    if accuracy is None:
        said = "no step made"
    elif math.isnan(accuracy):
        said = "model NaN"
    elif accuracy < without - HARM:
        said = f"followed the liar: {accuracy:.0f} %"
    else:
        said = "ran on"
    return f"{said}, {timeouts} rounds until the timeout" if timeouts else said


def recorded(records: Iterable[RoundRecord], node: int = LIAR) -> str:
    """Where the records of training put a node, and the last reason; empty if nowhere."""
    for record in reversed(list(records)):
        for place in ("dropped", "missing", "refused"):
            reason = getattr(record, place).get(node)
            if reason is not None and record.kind == "train":
                return f"{place}: {reason}"
    return ""


@dataclass(frozen=True)
class Seen:
    """What was seen: `outcome` in words, the final `accuracy`, and the record's `reason`."""

    outcome: str
    accuracy: float | None
    reason: str = ""


def stock_outcome(federation: Federation, name: str, fault: Fault, without: float) -> Seen:
    """What one of Flower's strategies made of a fault."""
    try:
        grid, result = federation.run_stock(name, fault)
    except Waiting:
        waited = f"waited for ever (stopped after {FaultyGrid.patience:.0f} s)"
        return Seen(waited, None)
    except Exception as error:
        return Seen(f"crashed: {type(error).__name__}", None)
    accuracy = federation.accuracy(result.arrays) if result.arrays else None
    return Seen(outcome(accuracy, without, grid.timeouts), accuracy)


def our_outcome(federation: Federation, fault: Fault, without: float) -> Seen:
    """What `WolaStrategy` made of a fault."""
    try:
        result, strategy = federation.run_ours(fault)
    except Exception as error:
        return Seen(f"crashed: {type(error).__name__}", None)
    accuracy = federation.accuracy(result.arrays)
    late = [each for each in strategy.records if each.seconds["collect"] >= TIMEOUT]
    said = outcome(accuracy, without, len(late))
    if strategy.ending != "finished":
        said = f"ended: {strategy.ending}"
    reason = recorded(strategy.records)
    if reason:
        said += f", {reason.split(':')[0]} and recorded"
    return Seen(said, accuracy, reason)


def table(
    names: Iterable[str] = FAULTS,
    tell: Callable[[str], None] = print,
    *,
    strategies: Iterable[str] = STOCK,
) -> dict[str, dict[str, dict[str, Any]]]:
    """What was seen, by fault and strategy, ours included; `NOTHING` is always among the faults."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    with TemporaryDirectory() as folder, quiet(), np.errstate(all="ignore"):
        federation = Federation(Path(folder))
        for words in dict.fromkeys([NOTHING, *names]):
            fault, row = FAULTS[words], {}
            for name in [*strategies, OURS]:
                honest = found.get(NOTHING, {}).get(name)
                without = honest["accuracy"] if honest and fault.rounds == ROUNDS else 0.0
                if name == OURS:
                    seen = our_outcome(federation, fault, without)
                else:
                    seen = stock_outcome(federation, name, fault, without)
                row[name] = vars(seen)
            found[words] = row
            tell(f"{words}: " + "; ".join(f"{x} {y['outcome']}" for x, y in row.items()))
    return found
