"""What a server may know beside the updates: its own data, label reports, who is who."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from wola.ground.checks import check_number

#: What a rule keeps from round to round: a tensor for each worker by name, or for a word.
Memory = Mapping[str | int, Tensor]


class FrozenMemory(Memory):
    """A memory into which nothing can be put, and which can be copied and pickled.

    >>> FrozenMemory({"a": torch.tensor(1.0)})["a"]
    tensor(1.)
    """

    def __init__(self, entries: Memory) -> None:
        self._entries = dict(entries)

    def __getitem__(self, name: str | int) -> Tensor:
        return self._entries[name]

    def __iter__(self) -> Iterator[str | int]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrozenMemory) or set(self) != set(other):
            return False
        return all(torch.equal(value, other[name]) for name, value in self.items())

    def __hash__(self) -> int:
        return hash(frozenset(self._entries))

    def __repr__(self) -> str:
        return f"FrozenMemory of {list(self._entries)}"


def frozen(memory: Memory) -> Memory:
    """The memory as it is now, whatever becomes of the mapping given."""
    return memory if isinstance(memory, FrozenMemory) else FrozenMemory(memory)


NO_MEMORY: Memory = FrozenMemory({})

#: What a rule may need, and how it is given.
GIVEN_BY = {
    "mean": "reference",
    "classes": "reference",
    "losses": "reference",
    "labels": "labels",
}

#: What of it comes from data of the server's own.
FROM_REFERENCE = frozenset(need for need, given in GIVEN_BY.items() if given == "reference")


class Reference(Protocol):
    """A server's own clean data, seen through the model of this round."""

    lr: float
    """The learning rate with which the aggregate will be applied."""

    def mean(self) -> Tensor:
        """The update that the server would send if it were a worker, (1, d)."""

    def classes(self) -> Tensor:
        """The update of each class alone, (C, d); a ValueError names classes without data."""

    def measure(
        self,
        steps: Iterable[Tensor],
        *,
        samples: int | None = None,
        generator: Generator | None = None,
    ) -> NDArray[np.float64]:
        """Loss and error rate on the server's data at theta - lr step for each step, (k, 2).

        With `samples` on so many of them, drawn from the generator, the same for all steps.
        """

    def gradient(self, step: Tensor) -> Tensor:
        """The gradient on the server's data at theta - lr step, (d,)."""


class MissingReference(ValueError):
    """Raised when a rule needs something of the server that it was not given."""


class ReferenceRows:
    """A reference of rows that the server has computed itself, for one round.

    `mean` (1, d) or (d,) is the server's own update, `classes` (C, d) one for each class; `lr` is
    the learning rate. For rules that need losses, see `wola.training.ServerData`.

    >>> ReferenceRows(lr=0.1).mean()
    Traceback (most recent call last):
    wola.aggregation.view.MissingReference: the reference has no mean; allowed: \
ReferenceRows(mean=...)
    """

    def __init__(
        self, *, mean: Tensor | None = None, classes: Tensor | None = None, lr: float = 1.0
    ) -> None:
        self.lr = check_number("lr", lr, above=0)
        self._rows = {"mean": mean, "classes": classes}

    def _given(self, name: str) -> Tensor:
        rows = self._rows[name]
        if rows is None:
            raise MissingReference(
                f"the reference has no {name}; allowed: ReferenceRows({name}=...)"
            )
        return rows.reshape(1, -1) if rows.ndim == 1 else rows

    def mean(self) -> Tensor:
        """The server's own update, (1, d)."""
        return self._given("mean")

    def classes(self) -> Tensor:
        """The update of each class alone, (C, d)."""
        return self._given("classes")

    def measure(
        self,
        steps: Iterable[Tensor],
        *,
        samples: int | None = None,
        generator: Generator | None = None,
    ) -> NDArray[np.float64]:
        """Not known: rows say nothing about losses elsewhere."""
        raise MissingReference("rows tell no losses; allowed: a reference with data and a model")

    def gradient(self, step: Tensor) -> Tensor:
        """Not known: rows say nothing about gradients elsewhere."""
        raise MissingReference("rows tell no gradients; allowed: a reference with data and a model")


@dataclass(frozen=True)
class View:
    """All that a server may know beside the updates; every field may be missing.

    `reference` is its own clean data, `labels` (n, C) the label distributions that the workers
    report (a worker whose report is none is dropped, as one whose update is not finite), `workers`
    the names of the rows (None: 0, ..., n - 1). `memory` is what the rule kept of the round before:
    `Outcome.memory`, empty in the first round. It cannot be changed from here.
    """

    reference: Reference | None = None
    labels: Tensor | NDArray[np.float64] | None = None
    workers: Sequence[str | int] | None = None
    memory: Memory = field(default=NO_MEMORY, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.memory, Mapping):
            kind = type(self.memory).__name__
            raise TypeError(f"memory is a {kind}; allowed: a mapping such as Outcome.memory")
        object.__setattr__(self, "memory", frozen(self.memory))
        if self.workers is not None:
            _check_names(self.workers)

    def names(self, n: int) -> Sequence[str | int]:
        """What the n rows are called.

        >>> View(workers=("a", "b")).names(3)
        Traceback (most recent call last):
        ValueError: workers has 2 names; allowed: 3, one for each update
        """
        if self.workers is None:
            return range(n)
        if len(self.workers) != n:
            count = len(self.workers)
            raise ValueError(f"workers has {count} names; allowed: {n}, one for each update")
        return self.workers

    def present(self) -> View:
        """The view with the memory of the workers that are here alone; all of it without names."""
        if self.workers is None:
            return self
        kept = {name: self.memory[name] for name in self.workers if name in self.memory}
        return replace(self, memory=kept)

    def of_rows(self, rows: Sequence[int] | NDArray[np.int64]) -> View:
        """The view of some of the workers, or of all in another order.

        >>> View(workers=("a", "b", "c")).of_rows([2, 0]).workers
        ('c', 'a')
        """
        chosen = np.asarray(rows, dtype=np.int64)
        labels = None if self.labels is None else torch.as_tensor(self.labels)[chosen]
        places = chosen.tolist()
        names = places if self.workers is None else [self.workers[i] for i in places]
        return replace(self, labels=labels, workers=tuple(names))

    def mixed(self, matrix: NDArray[np.float64]) -> View:
        """The view of mixtures (m, n) of the workers: their labels are mixed as they are.

        Mixture i of as many is still worker i's; fewer or more are nobody's.
        """
        workers = self.workers if matrix.shape[0] == matrix.shape[1] else None
        labels = self.labels
        if labels is not None:
            labels = torch.from_numpy(matrix) @ torch.as_tensor(labels, dtype=torch.float64)
        return replace(self, labels=labels, workers=workers)

    @property
    def classes(self) -> int | None:
        """How many classes the workers report on, C; None without reports."""
        return None if self.labels is None else int(self.labels.shape[1])

    def reporting(self, n: int) -> NDArray[np.int64]:
        """Which of n workers report a label distribution: all of them where nothing is reported.

        A distribution is finite, not negative and sums to 1 within 1e-6.

        >>> View(labels=torch.tensor([[0.5, 0.5], [2.0, -1.0], [float("nan"), 1.0]])).reporting(3)
        array([0])
        """
        if self.labels is None:
            return np.arange(n)
        rows = torch.as_tensor(self.labels).double()
        if len(rows) != n or not rows.shape[1]:
            raise ValueError(
                f"labels has shape {tuple(rows.shape)}; allowed: ({n}, C), a report of each worker"
            )
        usable = ((rows >= 0).all(1) & ((rows.sum(1) - 1).abs() <= 1e-6)).cpu().numpy()
        return np.flatnonzero(usable)

    @property
    def known(self) -> Reference:
        """The reference; a `MissingReference` if there is none."""
        if self.reference is None:
            raise MissingReference("there is no reference; allowed: View(reference=...)")
        return self.reference

    def check(self, rule: object, needs: frozenset[str]) -> None:
        """Raise a `MissingReference` that says how to give what the rule needs and is not here.

        >>> View().check("FLTrust()", frozenset({"mean"}))
        Traceback (most recent call last):
        wola.aggregation.view.MissingReference: FLTrust() needs a reference of the server's own; \
allowed: rule.at(View(reference=...))
        """
        for need in sorted(needs):
            given = GIVEN_BY[need]
            if getattr(self, given) is None:
                what = "a reference of the server's own"
                if given == "labels":
                    what = "the label distributions that the workers report"
                raise MissingReference(f"{rule} needs {what}; allowed: rule.at(View({given}=...))")
        if "labels" in needs and self.labels is not None and self.labels.ndim != 2:
            shape = tuple(self.labels.shape)
            raise ValueError(f"labels has shape {shape}; allowed: (n, C), a report of each worker")


def _check_names(workers: Sequence[str | int]) -> None:
    for name in workers:
        if isinstance(name, bool) or not isinstance(name, (str, int)):
            kind = type(name).__name__
            raise TypeError(f"workers holds {name!r}, a {kind}; allowed: names that are str or int")
    if len(set(workers)) < len(workers):
        twice = next(name for name in workers if list(workers).count(name) > 1)
        raise ValueError(f"workers holds {twice!r} twice; allowed: a name of its own for each")


NOTHING_KNOWN = View()
