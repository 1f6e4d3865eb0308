"""How the learning rate falls from step to step."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from wola.ground.checks import check_number, check_whole


@dataclass(frozen=True)
class Schedule(ABC):
    """A learning-rate schedule: a frozen value whose one verb gives the rate of a step."""

    @abstractmethod
    def rate(self, lr: float, step: int) -> float:
        """The learning rate of step t = 1, 2, ... that starts at `lr`."""


@dataclass(frozen=True)
class Constant(Schedule):
    """The learning rate never changes.

    >>> Constant().rate(0.5, step=100)
    0.5
    """

    def rate(self, lr: float, step: int) -> float:
        """`lr` itself."""
        return lr


@dataclass(frozen=True)
class Harmonic(Schedule):
    """The learning rate is divided by 1 + floor(t / period): the paper's for MNIST.

    >>> Harmonic(period=50).rate(0.75, step=50)
    0.375
    """

    period: int = 50

    def __post_init__(self) -> None:
        check_whole("period", self.period, least=1)

    def rate(self, lr: float, step: int) -> float:
        """`lr` / (1 + floor(t / period))."""
        return lr / (1 + step // self.period)


@dataclass(frozen=True)
class Step(Schedule):
    """After `period` steps the learning rate is multiplied by `factor`: the paper's for CIFAR-10.

    >>> Step(period=10, factor=0.5).rate(1.0, step=10), Step(period=10, factor=0.5).rate(1.0, 11)
    (1.0, 0.5)
    """

    period: int = 1500
    factor: float = 0.1

    def __post_init__(self) -> None:
        check_whole("period", self.period, least=1)
        check_number("factor", self.factor, above=0)

    def rate(self, lr: float, step: int) -> float:
        """`lr` until `period`, then `lr` x `factor`."""
        return lr * self.factor if step > self.period else lr


SCHEDULES: Mapping[str, type[Schedule]] = MappingProxyType(
    {"harmonic": Harmonic, "step": Step, "constant": Constant}
)
