"""A recipe: how clients and server train, and the part of it that a client is told each round."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from flwr.app import ConfigRecord, ConfigRecordValues

from wola.flower.wire import WireError, value
from wola.labels import LOSSES
from wola.training.scenario import Scenario
from wola.training.schedule import Schedule, learning_rate

SCHEDULES = ("harmonic", "step", "constant")
SERVERS = ("sgd", "momentum", "adam")


@dataclass(frozen=True)
class _Number:
    """A number of a kind, within bounds: `allowed` puts into words what `fits` decides."""

    kind: type[int] | type[float]
    allowed: str
    fits: Callable[[Any], bool]

    def check(self, name: str, given: object) -> None:
        kinds = (int, float) if self.kind is float else (int,)
        right = isinstance(given, kinds) and not isinstance(given, bool)
        if not right or not (math.isfinite(given) and self.fits(given)):  # type: ignore[arg-type]
            raise ValueError(f"{name} = {given!r}; allowed: {self.allowed}")


_SHARE = _Number(float, "a number from 0 to below 1", lambda x: 0 <= x < 1)
_COUNT = _Number(int, "an int >= 1", lambda x: x >= 1)
_POSITIVE = _Number(float, "a number > 0", lambda x: x > 0)
_SIZE = _Number(float, "a number >= 0", lambda x: x >= 0)

_NUMBERS = {
    "lr": _POSITIVE,
    "lr_period": _COUNT,
    "lr_factor": _POSITIVE,
    "beta": _SHARE,
    "batch": _COUNT,
    "local_steps": _COUNT,
    "clip": _SIZE,
    "l2": _SIZE,
    "server_beta": _SHARE,
    "server_beta2": _SHARE,
    "seed": _Number(int, "an int of 64 bits", lambda x: -(2**63) <= x < 2**63),
}
_NAMES = {"loss": tuple(LOSSES), "lr_schedule": SCHEDULES, "server": SERVERS}


def _check(fields: dict[str, object]) -> None:
    for name, given in fields.items():
        if name in _NUMBERS:
            _NUMBERS[name].check(name, given)
        elif given not in _NAMES[name]:
            raise ValueError(f"{name} = {given!r}; allowed: {', '.join(_NAMES[name])}")


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a client is told to do in a round; fields as in `Recipe`, `lr` that of the round.

    >>> Orders(**{**Recipe().orders(1).fields(), "beta": 1.0})
    Traceback (most recent call last):
    ...
    ValueError: beta = 1.0; allowed: a number from 0 to below 1
    """

    lr: float
    beta: float
    batch: int
    local_steps: int
    clip: float
    l2: float
    loss: str
    seed: int

    def __post_init__(self) -> None:
        _check(asdict(self))

    def fields(self) -> dict[str, ConfigRecordValues]:
        """The fields as they travel: numbers that may have a fraction always as floats."""
        made: dict[str, ConfigRecordValues] = asdict(self)
        return {
            name: float(given)  # type: ignore[arg-type]
            if name in _NUMBERS and _NUMBERS[name].kind is float
            else given
            for name, given in made.items()
        }

    @classmethod
    def of(cls, record: ConfigRecord) -> Self:
        """The orders in the record of a train message, or a `WireError`."""
        made: dict[str, Any] = {
            name: value(record, name, _NUMBERS[name].kind if name in _NUMBERS else str)
            for name in cls.__dataclass_fields__
        }
        try:
            return cls(**made)
        except ValueError as error:
            raise WireError(str(error)) from error


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a federation trains; the fields have the names and meanings of `Scenario`.

    The learning rate `lr` falls by `lr_schedule`; clients have momentum `beta`, draw batches of
    `batch` samples, clip gradients at norm `clip` (0: as they are), add weight decay `l2` and use
    `loss`, a name in `wola.LOSSES`. With `local_steps` k = 1 a client sends the momentum of its
    gradient, as in the paper; with k > 1 that of (theta - theta_i) / lr after k steps of its own.
    `server` is "sgd", "momentum" or "adam". `seed` decides all that is random.

    >>> Recipe(batch=64).orders(50).lr
    0.375
    >>> Recipe(loss="hinge")
    Traceback (most recent call last):
    ...
    ValueError: loss = 'hinge'; allowed: cross-entropy, wola, wola-batch
    """

    lr: float = 0.75
    lr_schedule: Schedule = "harmonic"
    lr_period: int = 50
    lr_factor: float = 0.1
    beta: float = 0.9
    batch: int = 128
    local_steps: int = 1
    clip: float = 5.0
    l2: float = 1e-4
    loss: str = "wola"
    server: Literal["sgd", "momentum", "adam"] = "sgd"
    server_beta: float = 0.9
    server_beta2: float = 0.99
    seed: int = 1

    def __post_init__(self) -> None:
        _check(asdict(self))

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """The recipe of a scenario: what of it clients and server do.

        >>> Recipe.of(Scenario(loss="wola", beta=0.5)).beta
        0.5
        """
        return cls(**{name: getattr(scenario, name) for name in cls.__dataclass_fields__})

    def learning_rate(self, step: int) -> float:
        """The learning rate of round t = 1, 2, ..., as that of a scenario."""
        return learning_rate(step, self)

    def orders(self, step: int) -> Orders:
        """What the clients are told in round t."""
        told = {name: getattr(self, name) for name in Orders.__dataclass_fields__}
        return Orders(**{**told, "lr": self.learning_rate(step)})
