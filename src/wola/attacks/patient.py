"""An attack that begins after rounds in which the attackers look honest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.attacks._remembered import check_keys
from wola.attacks.attack import Attack, RememberingAttack
from wola.attacks.mimic_static import MimicStatic
from wola.attacks.span_search import SpanSearch
from wola.ground.checks import check_whole

_KEYS = ("round", "attack")


@dataclass(frozen=True)
class Patient(RememberingAttack):
    """For some rounds all attackers copy an honest worker, then they send what `attack` makes.

    In each of the first `rounds` rounds they send what the first honest worker sends, as
    `MimicStatic` does; a rule that remembers earlier rounds learns to trust them. Rounds count in
    which at least one attacker takes part. `attack` is asked for the first time in the round after
    these; until then it is told who takes part and how the model moves.

    The value itself remembers nothing: called, it does what it would do in the first round.
    `fresh()` gives a `PatientRun`, which counts the rounds and can be saved.

    Defaults: `rounds`, `attack`: ours.

    Needs: what the attack needs.

    Cost: a copy, then what the attack costs.

    Reference: ours.

    >>> import torch
    >>> from wola.attacks import SignFlip
    >>> run = Patient(rounds=1, attack=SignFlip()).fresh()
    >>> [run(torch.tensor([[1.0], [3.0]]), f=1) for _ in range(2)]
    [tensor([[1.]]), tensor([[-2.]])]
    """

    rounds: int = 50
    attack: Attack = field(default_factory=SpanSearch)

    def __post_init__(self) -> None:
        check_whole("rounds", self.rounds, least=0)
        if not isinstance(self.attack, Attack):
            raise ValueError(
                f"attack = {self.attack!r}; allowed: an attack on updates, no label attack"
            )
        if self.attack.partial_knowledge:
            raise ValueError(
                f"attack = {self.attack}; allowed: an attack that knows the honest updates, as "
                "attackers who copy one do"
            )

    def fresh(self) -> "PatientRun":
        """The attack for one training run, before its first round."""
        return PatientRun(self.rounds, self.attack)

    def note(self, n: int, f: int) -> str | None:
        """What the attack that follows has to say."""
        return self.attack.note(n, f)


@dataclass
class _Memory:
    running: Attack
    round: int = 0


@dataclass(frozen=True)
class PatientRun(Patient):
    """`Patient` in the course of one training run; made by `Patient.fresh()`."""

    memory: _Memory = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "memory", _Memory(self.attack.fresh()))

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """A copy of the first honest update, or what the attack makes; the round is counted."""
        memory = self.memory
        memory.round += 1
        asked = MimicStatic() if memory.round <= self.rounds else memory.running
        return asked.rows(honest, f, rule, generator)

    def meet(self, workers: Sequence[int]) -> None:
        """The attack is told who takes part."""
        self.memory.running.meet(workers)

    def observe(self, movement: Tensor, lr: float) -> None:
        """The attack sees how the model moved."""
        self.memory.running.observe(movement, lr)

    def ending(self) -> str | None:
        """What the attack has to tell."""
        return self.memory.running.ending()

    def state_dict(self) -> dict[str, Any]:
        """How many rounds there were, and what the attack remembers."""
        return {"round": self.memory.round, "attack": self.memory.running.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        check_keys(state, _KEYS)
        self.memory.running.load_state_dict(state["attack"])
        self.memory.round = state["round"]
