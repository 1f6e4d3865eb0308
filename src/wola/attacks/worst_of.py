"""Of several attacks, in each round the one that hurts the server's own rule most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import torch
from torch import Generator, Tensor

from wola.aggregation.opening import TooFewUpdates
from wola.aggregation.rule import Rule
from wola.aggregation.source import times_power_of_two
from wola.attacks._judge import Goal, needed_rule
from wola.attacks._remembered import check_keys
from wola.attacks.alie import ALIE
from wola.attacks.attack import Attack, RememberingAttack, look
from wola.attacks.fang_krum import FangKrum
from wola.attacks.fang_trim import FangTrim
from wola.attacks.foe import FOE
from wola.attacks.mimic import Mimic
from wola.attacks.min_max import MinMax
from wola.attacks.optimal_alie import OptimalALIE
from wola.attacks.optimal_foe import OptimalFOE
from wola.attacks.sign_flip import SignFlip
from wola.ground.checks import check_choice
from wola.ground.generators import copied

#: Numbers that differ by less than this, relative to the larger, are ties up to rounding.
ROUNDING = 1e-9

_KEYS = ("attacks", "counts")


@dataclass(frozen=True)
class WorstOf(RememberingAttack):
    """Each round the one of several attacks that hurts the server's own rule most.

    Every one of `attacks` makes its updates b from the honest ones; the server's rule is solved on
    each, R = rule(honest, b), and what is sent is that with the largest ||R - mean|| (`goal`
    "distance") or with the lowest <R, mean> ("ascent"), mean that of the finite honest updates. Of
    attacks equally good, up to rounding, the first. Attacks and rule draw from copies of
    `generator`, which is left as it was: pass the server's own and the attackers know the draw. An
    attack whose round the server would refuse counts as the weakest.

    Attacks that remember see every round and every step, whether chosen or not. `fresh()` gives a
    `WorstOfRun`, which counts how often it chose which; a training run tells it in its notes.

    Defaults: `attacks`, `goal`: ours.

    Needs: the server's rule.

    Cost: what the attacks cost, and the server's rule once for each.

    Reference: ours.

    >>> import torch
    >>> from wola.aggregation import Mean
    >>> honest = torch.tensor([[1.0], [2.0], [3.0]])
    >>> WorstOf((FOE(), SignFlip()))(honest, f=1, rule=Mean())
    tensor([[-2.]])
    """

    attacks: tuple[Attack, ...] = (
        ALIE(),
        FOE(),
        SignFlip(),
        Mimic(),
        MinMax(),
        OptimalALIE(),
        OptimalFOE(),
        FangTrim(sample=False),
        FangKrum(),
    )
    goal: Goal = "distance"

    def __post_init__(self) -> None:
        given = self.attacks
        if not isinstance(given, tuple) or not given:
            raise ValueError(f"attacks = {given!r}; allowed: a tuple of at least one attack")
        for attack in given:
            if not isinstance(attack, Attack):
                raise ValueError(
                    f"attacks holds {attack!r}; allowed: attacks on updates, no label attacks"
                )
            if attack.partial_knowledge:
                raise ValueError(
                    f"attacks holds {attack}; allowed: attacks that know the honest updates, as "
                    "the choice between them does"
                )
        check_choice("goal", self.goal, get_args(Goal))

    def fresh(self) -> "WorstOfRun":
        """The attack for one training run, with nothing chosen yet."""
        return WorstOfRun(self.attacks, self.goal)

    def note(self, n: int, f: int) -> str | None:
        """What the attacks have to say, each of itself."""
        notes = [note for attack in self.attacks if (note := attack.note(n, f)) is not None]
        return "; ".join(notes) or None


@dataclass
class _Memory:
    running: list[Attack] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class WorstOfRun(WorstOf):
    """`WorstOf` in the course of one training run; made by `WorstOf.fresh()`."""

    memory: _Memory = field(default_factory=_Memory, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.memory.running = [attack.fresh() for attack in self.attacks]
        self.memory.counts = [0] * len(self.attacks)

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each of the attacks was chosen so far."""
        return tuple(self.memory.counts)

    def ending(self) -> str | None:
        """How often which attack was chosen, the most frequent first."""
        ranked = sorted(zip(self.counts, self.attacks, strict=True), key=lambda pair: -pair[0])
        told = ", ".join(f"{attack} {count} times" for count, attack in ranked if count)
        return f"the worst of {len(self.attacks)} attacks was {told}" if told else None

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """The updates of the attack that hurts most; it is counted."""
        rule = needed_rule(rule, "WorstOf chooses by", n=len(honest) + f, f=f)
        harms, sent = [], []
        for attack in self.memory.running:
            sent.append(attack.rows(honest, f, rule, copied(generator)).to(honest.dtype))
            harms.append(self._harm(honest, sent[-1], rule, copied(generator)))
        best = 0
        for k, harm in enumerate(harms):
            if harm > harms[best] + ROUNDING * abs(harms[best]):
                best = k
        self.memory.counts[best] += 1
        return sent[best]

    def meet(self, workers: Sequence[int]) -> None:
        """All attacks are told who takes part."""
        for attack in self.memory.running:
            attack.meet(workers)

    def observe(self, movement: Tensor, lr: float) -> None:
        """All attacks see how the model moved."""
        for attack in self.memory.running:
            attack.observe(movement, lr)

    def _harm(self, honest: Tensor, sent: Tensor, rule: Rule, generator: Generator | None) -> float:
        """How much the aggregate suffers, in units of the honest updates."""
        seen = look(honest, len(sent), scaled=True)
        try:
            aggregate = rule(torch.cat([honest, sent]), len(sent), generator)
        except TooFewUpdates:
            return -float("inf")
        # Finite numbers may overflow on their way to a square: that is as far as it gets.
        scaled = times_power_of_two(aggregate.double(), -seen.exponent)
        mean = seen.honest.mean(dim=0, dtype=torch.float64)
        if self.goal == "ascent":
            return -float(scaled @ mean)
        return float(torch.linalg.vector_norm(scaled - mean))

    def state_dict(self) -> dict[str, Any]:
        """What each attack remembers, and how often it was chosen."""
        memory = self.memory
        states = [attack.state_dict() for attack in memory.running]
        return {"attacks": states, "counts": list(memory.counts)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        check_keys(state, _KEYS)
        states, counts = state["attacks"], state["counts"]
        if len(states) != len(self.attacks) or len(counts) != len(self.attacks):
            raise ValueError(
                f"state is of {len(states)} attacks; allowed: of {len(self.attacks)}, as here"
            )
        for attack, remembered in zip(self.memory.running, states, strict=True):
            attack.load_state_dict(remembered)
        self.memory.counts = list(counts)
