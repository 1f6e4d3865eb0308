"""The ledger of a run: one record per round, kept in memory and as lines of JSON."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, Self

from flwr.app import MetricRecord, MetricRecordValues

from wola.ground.files import write_whole


@dataclass(frozen=True)
class RoundRecord:
    """What happened in a round; round 0 is the query for label distributions.

    `replied` are the nodes whose replies were used; `dropped` those whose reply was invalid,
    `refused` those that cannot take part, and `missing` those that sent none or an error, each
    with the reason. `n` and `f` are what the rule was given, `weights` what it gave each node (None
    where it has no weights), `dissimilarity` the mean squared distance of the used updates to
    their mean and `norm` the length of the aggregate. The server cannot know who is honest, so
    liars that were not dropped are part of the dissimilarity. `skipped` is why the model was left
    as it is; None if it moved. `unscored` are nodes whose evaluation is not part of `accuracy` and
    `loss`, and why. `surplus` counts replies that nobody had asked for. `warning`, in the first
    record of a run, is what the settings cannot bear.
    """

    round: int
    kind: str
    replied: tuple[int, ...]
    dropped: Mapping[int, str]
    refused: Mapping[int, str]
    missing: Mapping[int, str]
    n: int
    f: int
    skipped: str | None = None
    weights: Mapping[int, float] | None = None
    dissimilarity: float | None = None
    norm: float | None = None
    accuracy: float | None = None
    loss: float | None = None
    unscored: Mapping[int, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    bytes_in: int = 0
    bytes_out: int = 0
    surplus: int = 0
    warning: str | None = None

    def to_json(self) -> str:
        """The record in one line; nodes are strings there, as JSON's keys are."""
        return json.dumps(asdict(self), allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Self:
        """The record that `to_json` wrote."""
        fields: dict[str, Any] = json.loads(line)
        for name in ("dropped", "refused", "missing", "unscored", "weights"):
            if fields[name] is not None:
                fields[name] = {int(node): value for node, value in fields[name].items()}
        return cls(**fields | {"replied": tuple(fields["replied"])})

    def evaluated(self, metrics: MetricRecord | None, seconds: float) -> Self:
        """The record with accuracy and loss of an evaluation, as far as it has them."""
        found = {
            name: float(value)
            for name, value in (metrics or {}).items()
            if isinstance(value, int | float) and isfinite(value)
        }
        spent = self.seconds.get("evaluate", 0.0) + seconds
        return replace(
            self,
            accuracy=found.get("accuracy", self.accuracy),
            loss=found.get("loss", self.loss),
            seconds={**self.seconds, "evaluate": spent},
        )

    def __str__(self) -> str:
        """The record in words: what a log says of the round."""
        parts = [f"round {self.round} ({self.kind}): {len(self.replied)} replies used"]
        for name in ("dropped", "refused", "missing"):
            nodes = getattr(self, name)
            parts += [f"{name} {node}: {reason}" for node, reason in nodes.items()]
        if self.accuracy is not None:
            parts.append(f"accuracy {self.accuracy:.1f} %")
        if self.skipped is not None:
            parts.append(f"skipped: {self.skipped}")
        return "; ".join(parts)

    def metrics(self) -> MetricRecord:
        """The numbers of the record, as Flower's results hold them."""
        numbers: dict[str, MetricRecordValues] = {
            "replied": len(self.replied),
            "dropped": len(self.dropped),
            "refused": len(self.refused),
            "missing": len(self.missing),
            "n": self.n,
            "f": self.f,
            "skipped": int(self.skipped is not None),
            "bytes-in": self.bytes_in,
            "bytes-out": self.bytes_out,
            "seconds": float(sum(self.seconds.values())),
        }
        optional = ("dissimilarity", "norm", "accuracy", "loss")
        found = {name: getattr(self, name) for name in optional}
        numbers |= {name: value for name, value in found.items() if value is not None}
        return MetricRecord(numbers)


class Ledger:
    """The records of a run, and the file of JSON lines that follows them, if there is one.

    >>> record = RoundRecord(1, "train", (1001,), {}, {}, {1002: "error 5: gone"}, n=1, f=0)
    >>> ledger = Ledger()
    >>> ledger.add(record)
    >>> RoundRecord.from_json(ledger.lines()[0]) == record
    True
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.records: list[RoundRecord] = []

    def begin(self, lines: Iterable[str] = ()) -> None:
        """Starts with these lines and no others, in the file as well."""
        self.records = [RoundRecord.from_json(line) for line in lines]
        if self.path is not None:
            write_whole(self.path, "".join(f"{line}\n" for line in self.lines()).encode())

    def add(self, record: RoundRecord) -> None:
        """One more record."""
        self.records.append(record)
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(f"{record.to_json()}\n")

    def lines(self) -> list[str]:
        """All records as JSON."""
        return [record.to_json() for record in self.records]


def finite_or_none(value: float) -> float | None:
    """The value, or None where JSON has no number for it.

    >>> finite_or_none(float("inf")) is None
    True
    """
    return value if isfinite(value) else None
