"""How the learning rate falls from step to step."""

from typing import Literal

Schedule = Literal["harmonic", "step", "constant"]


def learning_rate(step: int, *, lr: float, schedule: Schedule, period: int, factor: float) -> float:
    """The learning rate of step t = 1, 2, ...

    "harmonic": `lr` / (1 + floor(t / `period`)); "step": `lr` until `period`, then `lr` x
    `factor`; "constant": `lr`.

    >>> learning_rate(50, lr=0.75, schedule="harmonic", period=50, factor=0.1)
    0.375
    """
    if schedule == "harmonic":
        return lr / (1 + step // period)
    if schedule == "step" and step > period:
        return lr * factor
    return lr
