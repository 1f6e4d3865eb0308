"""PoisonedFL: the same random direction in every round, as large as the model moves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import lgamma, log
from typing import Any

import torch
from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks._remembered import restore, saved
from wola.attacks._scale import norms_and_peaks, unit
from wola.attacks.attack import RememberingAttack
from wola.ground.checks import check_number, check_whole


def upper_tail(n: int, k: int) -> float:
    """P(X >= k) for X the number of heads of n fair coins.

    >>> round(upper_tail(3, 2), 6), round(upper_tail(139960, 70415), 4)
    (0.5, 0.0101)
    """
    if k <= 0:
        return 1.0
    heads = torch.arange(k, n + 1, dtype=torch.float64)
    ways = lgamma(n + 1) - torch.lgamma(heads + 1) - torch.lgamma(n - heads + 1)
    return min(1.0, float((ways - n * log(2.0)).exp().sum()))


@dataclass(frozen=True)
class PoisonedFL(RememberingAttack):
    r"""All attackers push the model along one random sign vector s in every round of a run.

    .. math:: x = -\frac{c \|m\|}{\eta}\, v \odot s, \qquad
        v \propto \left| m - \|m\| \frac{v' \odot s}{\|v'\|} \right|

    with m the last movement of the model's parameters, :math:`\eta` the learning rate it was made
    with, v of length 1, and v' the v of the round before (0 if there was none). They see the models
    and need no honest update. c starts at `scale`. After every `period` movements they test whether
    the model has moved along s in them: of the coordinates that moved, those that moved with the
    sign of s are counted, and if as many heads of fair coins are likelier than 1 - `confidence`,
    c becomes `decay` c, unless that is below `least`. Before the first movement they send zeros.

    The minus makes it an update that the server subtracts. That the tail is computed, that
    coordinates which did not move are left out, and v = |m| / ||m|| where the difference is 0, is
    our choice.

    The value itself remembers nothing and knows no movement: it sends zeros. `fresh()` gives a
    `PoisonedFLRun`; in a loop of your own, tell it after each step how the model moved.

    Defaults: `scale`, `decay`, `least`, `period`, `confidence`: public code of the WoLA paper's
    authors. Other public code of the attack starts at c = 8 and has thresholds of the test for four
    networks.

    Needs: the model's movements.

    Cost: one pass over the model's movement; nothing of the honest updates.

    Draws: signs, once for a run.

    Reference: Y. Xie, M. Fang and N. Z. Gong, Model poisoning attacks to federated learning via
    multi-round consistency, CVPR 2025.

    >>> import torch
    >>> run, generator = PoisonedFL().fresh(), torch.Generator().manual_seed(0)
    >>> honest = torch.ones(3, 2)
    >>> run(honest, f=1, generator=generator)
    tensor([[0., 0.]])
    >>> run.observe(movement=torch.tensor([-0.3, -0.4]), lr=0.1)
    >>> run(honest, f=1, generator=generator).abs().round()
    tensor([[30., 40.]])
    """

    scale: float = 10.0
    decay: float = 0.7
    least: float = 0.5
    period: int = 50
    confidence: float = 0.99

    def __post_init__(self) -> None:
        check_number("scale", self.scale, above=0)
        check_number("decay", self.decay, above=0, below=1)
        check_number("least", self.least, least=0)
        check_whole("period", self.period, least=1)
        check_number("confidence", self.confidence, above=0, below=1)

    def fresh(self) -> "PoisonedFLRun":
        """The attack for one training run, with nothing seen yet."""
        return PoisonedFLRun(self.scale, self.decay, self.least, self.period, self.confidence)


@dataclass
class _Memory:
    """`signs` s; the last `movement` and its `rate`; `last` v; the movement `since` the last test.

    `observed` counts the movements since the last test; `scale` is c.
    """

    scale: float
    signs: Tensor | None = None
    movement: Tensor | None = None
    rate: float = 1.0
    last: Tensor | None = None
    since: Tensor | None = None
    observed: int = 0


@dataclass(frozen=True)
class PoisonedFLRun(PoisonedFL):
    """`PoisonedFL` in the course of one training run; made by `PoisonedFL.fresh()`.

    Each call is one round, each `observe` one step of the server.
    """

    memory: _Memory = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "memory", _Memory(scale=float(self.scale)))

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """-c ||m|| / lr times v and s, f times; zeros before the first movement."""
        memory, d = self.memory, honest.shape[1]
        if memory.signs is None:
            memory.signs = self._drawn(d, generator).to(honest.device)
        if len(memory.signs) != d:
            raise ValueError(
                f"honest has d = {d} coordinates; earlier rounds had {len(memory.signs)}"
            )
        if memory.movement is None:
            return honest.new_zeros(d).expand(f, -1)
        movement, signs = memory.movement.double(), memory.signs.double()
        length = float(norms_and_peaks(movement[None])[0][0])
        before = 0.0 if memory.last is None else memory.last.double() * signs * length
        memory.last = unit((movement - before).abs())
        if not memory.last.any():
            memory.last = unit(movement.abs())
        row = memory.last * signs * (-memory.scale * length / memory.rate)
        return row.to(honest.dtype).expand(f, -1)

    def _drawn(self, d: int, generator: Generator | None) -> Tensor:
        if generator is None:
            raise ValueError(
                f"{self} draws signs and generator is None; allowed: a torch.Generator, used in "
                "the first round"
            )
        heads = torch.randint(2, (d,), device=generator.device, generator=generator)
        return (2 * heads - 1).to(torch.int8)

    def observe(self, movement: Tensor, lr: float) -> None:
        """The model has moved by `movement` (d,) with learning rate `lr`; c falls where it must."""
        check_number("lr", lr, above=0)
        memory, signs = self.memory, self.memory.signs
        if signs is not None and movement.shape != signs.shape:
            raise ValueError(
                f"movement has shape {tuple(movement.shape)}; allowed: {tuple(signs.shape)}"
            )
        if not bool(movement.isfinite().all()):
            return
        memory.movement, memory.rate = movement.detach().clone(), float(lr)
        moved = memory.movement.double()
        memory.since = moved if memory.since is None else memory.since + moved
        memory.observed += 1
        if memory.observed == self.period:
            if signs is not None and not self._works(memory.since, signs):
                lower = memory.scale * self.decay
                memory.scale = lower if lower >= self.least else memory.scale
            memory.since, memory.observed = None, 0

    def _works(self, movement: Tensor, signs: Tensor) -> bool:
        """Whether more coordinates moved along the signs than chance would explain."""
        along = movement.sign() * signs
        return upper_tail(int((along != 0).sum()), int((along > 0).sum())) <= 1 - self.confidence

    def state_dict(self) -> dict[str, Any]:
        """All that later rounds depend on: tensors, copies, and plain values."""
        return saved(self.memory)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        restore(self.memory, state)
