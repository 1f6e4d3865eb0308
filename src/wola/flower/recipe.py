"""A recipe: how clients and server train, and the part of it that a client is sent each round."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any, Self, get_type_hints

from flwr.app import ConfigRecord, ConfigRecordValues
from pydantic import Field

from wola.flower.wire import WireError, value
from wola.labels import LOSSES, Loss
from wola.parts import PartError, part_name
from wola.training.registry import PARTS
from wola.training.scenario import Part, Scenario, ScenarioError, TrainingFields


class Recipe(TrainingFields):
    """How a federation trains; fields, defaults and checks are those of `Scenario`.

    `loss`, `schedule` and `server` are parts, as a text or as an object. The learning rate `lr`
    falls by `schedule`; clients have momentum `beta`, draw batches of `batch` samples, clip
    gradients at norm `clip` (0: as they are) and add weight decay `l2`. With `local_steps` k = 1 a
    client sends the momentum of its gradient, as in the paper; with k > 1 that of
    (theta - theta_i) / lr after k steps of its own. `seed` decides all that is random. A loss of
    your own is not sent to clients: each gives it to its own `wola_client`.

    >>> Recipe(batch=64).orders(50).lr
    0.375
    >>> Recipe(server="momentum(beta=1.5)")
    Traceback (most recent call last):
    ...
    wola.training.scenario.ScenarioError: server = 'momentum(beta=1.5)'; beta = 1.5; allowed: a \
finite number >= 0 and < 1
    """

    loss: Part = Field(default="wola", json_schema_extra={"topic": "loss and objective"})
    """The clients' loss; wola aligns them to the objective, wola-batch by each batch's labels."""

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """The recipe of a scenario: what of it clients and server do.

        >>> Recipe.of(Scenario(loss="wola", beta=0.5)).beta
        0.5
        """
        return cls(**{name: getattr(scenario, name) for name in cls.model_fields})

    def orders(self, step: int) -> Orders:
        """What the clients are sent in round t = 1, 2, ..."""
        fields = {name: getattr(self, name) for name in Orders.__dataclass_fields__}
        # The text of a part that cannot be imported carries its object, which is not sent.
        return Orders(**{**fields, "loss": str(self.loss), "lr": self.learning_rate(step)})


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a client is told to do in a round; fields as in `Recipe`, `lr` that of the round."""

    loss: str
    beta: float
    lr: float
    batch: int
    clip: float
    l2: float
    local_steps: int
    seed: int

    def fields(self) -> dict[str, ConfigRecordValues]:
        """The fields as they are sent.

        >>> Recipe(lr=1, schedule="constant").orders(1).fields()["lr"]
        1.0
        """
        return asdict(self)

    @classmethod
    def of(cls, record: ConfigRecord) -> Self:
        """The orders in the record of a train message, or a `WireError`.

        The loss is read as a text alone: `loss_of_server` decides whether it may be used.

        >>> Orders.of(ConfigRecord({**Recipe().orders(1).fields(), "beta": 1.0}))
        Traceback (most recent call last):
        ...
        wola.flower.wire.WireError: beta = 1.0; allowed: less than 1
        """
        made: dict[str, Any] = {name: value(record, name, kind) for name, kind in _kinds().items()}
        orders = cls(**made)
        _check(orders)
        return orders


@cache
def _kinds() -> dict[str, Any]:
    return get_type_hints(Orders)


@lru_cache(maxsize=16)
def _check(orders: Orders) -> None:
    # The loss is not looked at here, and the same orders come to every client of a process.
    try:
        Recipe(**{name: given for name, given in asdict(orders).items() if name != "loss"})
    except ScenarioError as error:
        raise WireError(str(error)) from error


def loss_of_server(text: str) -> Loss:
    """The loss that a server's message names: one of the library's, or a `WireError`.

    Nothing is ever imported because a message names it: a loss of your own is given to the client
    itself.

    >>> loss_of_server("wola(renormalise=true)")
    WoLA(renormalise=True)
    >>> loss_of_server("os:system")
    Traceback (most recent call last):
    ...
    wola.flower.wire.WireError: loss = 'os:system'; allowed from a server: cross-entropy, wola, \
wola-batch, fedlc, fedrs, dmfl, logit-adjusted, wola-shift; yours: wola_client(loss=...)
    """
    if ":" in text or part_name(text) not in LOSSES:
        raise WireError(
            f"loss = {text[:60]!r}; allowed from a server: {', '.join(LOSSES)}; yours: "
            "wola_client(loss=...)"
        )
    try:
        loss: Loss = PARTS.make("loss", PARTS.settle("loss", text))
    except PartError as error:
        raise WireError(str(error)) from error
    return loss
