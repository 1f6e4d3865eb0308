"""An attack of your own: written, checked, and tried on rules with and without WoLA.

`Wave` sends the honest mean at first and turns it a little further in every round. It remembers how
far it is, so it has a `fresh` for each run and a state that a checkpoint can hold.
"""

import math
from dataclasses import dataclass, field

import torch
from torch import Generator, Tensor

from wola import ColludingAttack, Rule, Scenario, simulate
from wola.attacks import Seen
from wola.testing import check_attack

STEPS = 60


@dataclass(frozen=True)
class Wave(ColludingAttack):
    """The honest mean, turned towards its largest deviation, further in each round."""

    scale_equivariant = True
    period: int = 40
    rounds: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def fresh(self) -> "Wave":
        """The attack as it is before a run's first round."""
        return Wave(self.period)

    def observe(self, movement: Tensor, lr: float) -> None:
        """One more round is over."""
        self.rounds["seen"] = self.rounds.get("seen", 0) + 1

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """What all attackers send, (d,)."""
        mean = seen.honest.mean(0)
        apart = seen.honest - mean
        farthest = apart[apart.norm(dim=1).argmax()]
        turned = 2 * math.pi * self.rounds.get("seen", 0) / self.period
        return math.cos(turned) * mean - math.sin(turned) * farthest

    def state_dict(self) -> dict[str, Tensor]:
        """What a checkpoint keeps."""
        return {name: torch.tensor(value) for name, value in self.rounds.items()}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Goes on from a checkpoint."""
        self.rounds.update({name: int(value) for name, value in state.items()})


def main() -> dict[tuple[str, str], float]:
    """The accuracy over training under the attack and under ALIE, in %."""
    check_attack(Wave())
    print("Wave keeps what an attack promises")
    found = {}
    for strategy in ("NNM", "WoLA+NNM"):
        for name, attack in (("Wave", Wave()), ("ALIE", "alie")):
            scenario = Scenario.paper(
                "digits", strategy=strategy, attack=attack, byzantine=6, steps=STEPS
            )
            found[strategy, name] = simulate(scenario).accuracy
            print(f"{strategy:8} under {name}: {found[strategy, name]:5.1f} %")
    return found


if __name__ == "__main__":
    main()
