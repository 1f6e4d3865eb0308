"""What an attack is: what f Byzantine workers send once they have seen the honest updates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.aggregation.source import Matrix, Updates, as_matrix, like, times_power_of_two
from wola.attacks._scale import norms_and_peaks, scaling
from wola.ground.checks import check_whole

#: What attackers are made of: all honest updates, or those that they would send themselves.
Knowledge = Literal["full", "partial"]


@dataclass(frozen=True)
class Attack(ABC):
    """An attack: a frozen value whose one verb turns h honest updates into f Byzantine ones.

    `attack(honest, f, rule, generator)` takes what a rule takes, here the honest updates (h, d),
    and returns (f, d) in the same dtype, on the same device, as NumPy if NumPy came in. n = h + f,
    and 2f < n. Where all attackers send the same update the f rows share memory: clone them
    before writing into one. The input is never changed. `rule` is the server's own, for attacks
    that optimise against it; `generator` is needed by attacks that draw at random; `own` (f, d),
    what the attackers would send if they were honest, by attacks that know nothing else.
    """

    scale_equivariant: ClassVar[bool] = False
    """Whether a positive factor on all honest updates is a factor on what is sent, too."""

    @property
    def partial_knowledge(self) -> bool:
        """Whether the attackers know their own honest updates alone, see `partial_rows`."""
        return False

    @abstractmethod
    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """The f >= 1 updates sent, (f, d), given the honest ones (h, d) as they are."""

    def partial_rows(
        self, own: Tensor, n: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """The f updates sent, (f, d), given nothing but the attackers' own honest ones (f, d).

        It is called in place of `rows` where `partial_knowledge` is true. Unless an attack says
        otherwise its attackers take their own updates for all honest ones.
        """
        return self.rows(own, len(own), rule, generator)

    def __call__(
        self,
        honest: Updates,
        f: int,
        rule: Rule | None = None,
        generator: Generator | None = None,
        own: Updates | None = None,
    ) -> Any:
        """The updates that the f attackers send, (f, d)."""
        matrix = as_matrix(honest, "honest")
        f = check_attackers(len(matrix), f)
        if f == 0:
            return like(matrix.new_empty(0, matrix.shape[1]), honest)
        if self.partial_knowledge:
            known = self._checked_own(own, f, matrix)
            sent = self.partial_rows(known, len(matrix) + f, rule, generator)
        else:
            sent = self.rows(matrix, f, rule, generator)
        return like(sent.to(matrix.dtype), honest)

    def _checked_own(self, own: Updates | None, f: int, honest: Tensor) -> Tensor:
        shape = (f, honest.shape[1])
        if own is None:
            raise ValueError(
                f"{self} is made of the attackers' own honest updates and own is None; allowed: "
                f"updates {shape}"
            )
        known = as_matrix(own, "own")
        if known.shape != shape:
            raise ValueError(
                f"own has shape {tuple(known.shape)}; allowed: {shape}, one row per attacker"
            )
        return known.to(honest)

    def meet(self, workers: Sequence[int]) -> None:
        """The honest workers of the coming round, by number, in the order of their updates.

        A training run calls it before each round, in which some workers may be absent. An attack
        that follows a worker from round to round may use it, the others do nothing.
        """
        return

    def observe(self, movement: Tensor, lr: float) -> None:
        """The server has moved the model: parameters (d,) by `movement`, with learning rate `lr`.

        All workers see the model at the start of each round. A training run calls it after each
        step of the server; an attack that remembers may use it, the others do nothing.
        """
        return

    def note(self, n: int, f: int) -> str | None:
        """What is out of the ordinary where f of n workers attack in this way; None if nothing."""
        return None

    def ending(self) -> str | None:
        """What the attack has to tell at the end of a training run; None if nothing."""
        return None

    def fresh(self) -> Attack:
        """The attack for one training run: itself, unless it remembers earlier rounds."""
        return self

    def state_dict(self) -> dict[str, Any]:
        """What the attack remembers between rounds: nothing, unless it says otherwise."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        if state:
            raise ValueError(f"state has keys {sorted(state)}; {self} remembers nothing")


@dataclass(frozen=True)
class RememberingAttack(Attack):
    """An attack that remembers earlier rounds once `fresh` has begun a training run.

    The value itself remembers nothing: called, it does what a run does in its first round.
    """

    @abstractmethod
    def fresh(self) -> Attack:
        """The attack for one training run, with nothing remembered yet."""

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """What a fresh start sends in its first round."""
        return self.fresh().rows(honest, f, rule, generator)


def check_attackers(h: int, f: int) -> int:
    """`f` as an int, or an error that names n, f and what is allowed beside h honest workers."""
    f = check_whole("f", f, least=0)
    n = h + f
    if 2 * f >= n:
        raise ValueError(
            f"f = {f} attackers beside h = {h} honest workers are not a minority of n = {n}; "
            f"allowed: 2f < n, so f <= {h - 1} here"
        )
    return f


@dataclass(frozen=True)
class Seen:
    """What colluding attackers see: the honest updates that the server will not drop.

    `honest` (k, d), float32 or float64, holds the finite updates, `workers` (k,) their positions
    among those given; `n` and `f` count all workers and the attackers; `largest` is the largest
    number that the dtype of the updates holds. To an attack that is scale-equivariant, updates so
    large or so small that squares would be lost are shown times 2^-`exponent`, `largest` too.
    """

    honest: Tensor
    workers: NDArray[np.int64]
    n: int
    f: int
    largest: float
    exponent: int = 0

    @property
    def dropped(self) -> int:
        """How many honest updates the server will drop as non-finite."""
        return self.n - self.f - len(self.workers)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The positions, among all n, of the updates that the server will not drop."""
        attackers = np.arange(self.n - self.f, self.n)
        return np.append(self.workers, attackers)


def look(honest: Tensor, f: int, *, scaled: bool = False) -> Seen:
    """What f attackers see of the honest updates (h, d); `scaled`, if these are huge or tiny."""
    source = Matrix(honest)
    norms, peaks = norms_and_peaks(source.matrix)
    finite = np.flatnonzero(norms <= torch.finfo(source.matrix.dtype).max)
    kept = source if len(finite) == len(honest) else source.keep(finite)
    exponent = scaling(norms[finite], peaks[finite]) if scaled and len(finite) else 0
    with np.errstate(over="ignore"):
        limit = float(np.ldexp(torch.finfo(honest.dtype).max, -exponent))
    shown = times_power_of_two(kept.matrix, -exponent)
    return Seen(shown, kept.rows, len(honest) + f, f, limit, exponent)


@dataclass(frozen=True)
class ColludingAttack(Attack):
    """An attack in which all attackers send one update, made from the finite honest ones.

    A subclass says which by `row`. An honest update with a non-finite value, or whose norm
    overflows, is one that the server drops, so the attackers leave it out as well; if none is
    left they send zeros. A subclass that sets `scale_equivariant` need not mind huge or tiny
    updates: they are brought near 1 by a power of two, and what it sends is brought back.
    """

    @abstractmethod
    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """The update that every attacker sends, (d,); `seen.honest` holds at least one row."""

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """The same row f times, in one memory."""
        seen = look(honest, f, scaled=self.scale_equivariant)
        if not len(seen.workers):
            return honest.new_zeros(honest.shape[1]).expand(f, -1)
        if rule is not None and seen.dropped:
            rule = rule.among(seen.rows)
        row = times_power_of_two(self.row(seen, rule, generator), seen.exponent)
        return row.to(honest.dtype).expand(f, -1)
