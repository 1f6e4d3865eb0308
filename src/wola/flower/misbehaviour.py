"""What a dishonest client does, for demonstrations and tests: each differs in one respect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import sleep

import torch
from flwr.app import Array, ArrayRecord, Context, MetricRecord, RecordDict
from torch import Generator, Tensor

from wola.attacks import LabelFlip
from wola.flower.wire import RECORD, UPDATE, flat_array

#: Values of the oversized reply: 100 MB of float32.
HUGE = 25_000_000

_KEPT = "wola-replay"


def _same(given: Tensor) -> Tensor:
    return given


@dataclass(frozen=True, kw_only=True)
class Misbehaviour:
    """Where a client departs from honesty; what is not given is done honestly.

    `labels` (labels (N,), C) are those it trains on and counts, `report` makes the label
    distribution (C,) it sends, `update` (update (d,), generator) the vector it sends. `content`
    changes a train reply before it is signed, and may wait or raise; `signed` replaces it
    afterwards, and is also given the client's `Context`.

    >>> flip = MISBEHAVIOURS["sign-flip"]
    >>> flip.update(torch.tensor([1.0, -2.0]), torch.Generator())
    tensor([-1.,  2.])
    """

    labels: Callable[[Tensor, int], Tensor] = lambda labels, classes: labels
    report: Callable[[Tensor], Tensor] = _same
    update: Callable[[Tensor, Generator], Tensor] = lambda update, generator: update
    content: Callable[[RecordDict], None] = lambda content: None
    signed: Callable[[RecordDict, Context], RecordDict] = lambda content, context: content


def silent(seconds: float = 600.0) -> Misbehaviour:
    """Answers a train message only after this many seconds, when the server no longer waits."""
    return Misbehaviour(content=lambda content: sleep(seconds))


def _last_nan(update: Tensor, generator: Generator) -> Tensor:
    return torch.cat([update[:-1], update.new_full((1,), float("nan"))])


def _noise(update: Tensor, generator: Generator) -> Tensor:
    return torch.randn(len(update), dtype=torch.float32, generator=generator)


def _on_one_class(report: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(report.argmin(), len(report)).to(report)


def _replaced(make: Callable[[Array], Array]) -> Callable[[RecordDict], None]:
    def change(content: RecordDict) -> None:
        record = content.array_records[UPDATE]
        record[UPDATE] = make(record[UPDATE])

    return change


def _longer(array: Array) -> Array:
    return flat_array(torch.zeros(array.shape[0] + 1, dtype=torch.float32))


def _doubles(array: Array) -> Array:
    return Array(array.numpy().astype("float64"))


def _huge(array: Array) -> Array:
    return flat_array(torch.zeros(HUGE, dtype=torch.float32))


def _renamed(content: RecordDict) -> None:
    record = content.array_records[UPDATE]
    content[UPDATE] = ArrayRecord({"weights": record[UPDATE]})


def _claim(content: RecordDict) -> None:
    content["metrics"] = MetricRecord({"num-examples": 1e9})


def _crash(content: RecordDict) -> None:
    raise RuntimeError("this client was told to crash")


def _replay(content: RecordDict, context: Context) -> RecordDict:
    """The first reply of the run, signature and all, in place of every later one."""
    for name in (RECORD, UPDATE):
        context.state.setdefault(f"{_KEPT}-{name}", content[name])
    return RecordDict({name: context.state[f"{_KEPT}-{name}"] for name in (RECORD, UPDATE)})


#: What a client can be told to do wrong, by name.
MISBEHAVIOURS: dict[str, Misbehaviour] = {
    "sign-flip": Misbehaviour(update=lambda update, generator: -update),
    "scaled": Misbehaviour(update=lambda update, generator: -10 * update),
    "nan": Misbehaviour(update=_last_nan),
    "infinite": Misbehaviour(update=lambda update, generator: torch.full_like(update, torch.inf)),
    "zero": Misbehaviour(update=lambda update, generator: torch.zeros_like(update)),
    "gaussian": Misbehaviour(update=_noise),
    "label-flip": Misbehaviour(labels=lambda labels, classes: _flipped(labels, classes)),
    "lie-labels": Misbehaviour(report=_on_one_class),
    "lie-sizes": Misbehaviour(content=_claim),
    "wrong-shape": Misbehaviour(content=_replaced(_longer)),
    "wrong-dtype": Misbehaviour(content=_replaced(_doubles)),
    "wrong-keys": Misbehaviour(content=_renamed),
    "huge": Misbehaviour(content=_replaced(_huge)),
    "crash": Misbehaviour(content=_crash),
    "silent": silent(),
    "replay": Misbehaviour(signed=_replay),
}


def _flipped(labels: Tensor, classes: int) -> Tensor:
    flipped: Tensor = LabelFlip().labels(labels, classes)
    return flipped
