"""How the learning rate falls from step to step."""

from typing import Literal, Protocol

Schedule = Literal["harmonic", "step", "constant"]


class Falling(Protocol):
    """What a learning rate depends on beside the step: a scenario has it, and a recipe."""

    @property
    def lr(self) -> float:
        """Learning rate at the start."""

    @property
    def lr_schedule(self) -> Schedule:
        """How it falls."""

    @property
    def lr_period(self) -> int:
        """Steps after which it falls."""

    @property
    def lr_factor(self) -> float:
        """Schedule step: what it is multiplied by."""


def learning_rate(step: int, falling: Falling) -> float:
    """The learning rate of step t = 1, 2, ...

    "harmonic": `lr` / (1 + floor(t / `lr_period`)); "step": `lr` until `lr_period`, then `lr` x
    `lr_factor`; "constant": `lr`.
    """
    if falling.lr_schedule == "harmonic":
        return falling.lr / (1 + step // falling.lr_period)
    if falling.lr_schedule == "step" and step > falling.lr_period:
        return falling.lr * falling.lr_factor
    return falling.lr
