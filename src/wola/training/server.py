"""What the server does with an aggregate: a step, a step with momentum, or one of Adam."""

from collections.abc import Mapping
from typing import Literal, Protocol

import torch
from torch import Tensor

#: Keeps the step of Adam finite where the aggregates are nearly 0.
TAU = 1e-3


class Server(Protocol):
    """A server optimiser: one verb, which moves the parameters (d,) in place."""

    def step(self, parameters: Tensor, aggregate: Tensor, lr: float) -> None:
        """Moves the parameters by the aggregate (d,) with learning rate `lr`."""

    def state_dict(self) -> dict[str, Tensor]:
        """What it remembers between rounds."""

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what `state_dict` gave."""


class SGD:
    """theta <- theta - lr R: the paper's server.

    >>> theta = torch.tensor([1.0])
    >>> SGD().step(theta, torch.tensor([2.0]), lr=0.25)
    >>> theta
    tensor([0.5000])
    """

    def step(self, parameters: Tensor, aggregate: Tensor, lr: float) -> None:
        """Moves the parameters by the aggregate (d,) with learning rate `lr`."""
        parameters.sub_(aggregate, alpha=lr)

    def state_dict(self) -> dict[str, Tensor]:
        """Nothing."""
        return {}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Nothing to take up."""


class Momentum:
    """v <- beta v + R, theta <- theta - lr v.

    Reference: T.-M. H. Hsu, H. Qi and M. Brown, Measuring the effects of non-identical data
    distribution for federated visual classification, 2019.
    """

    def __init__(self, size: int, *, beta: float = 0.9, device: torch.device | str = "cpu") -> None:
        self.beta = beta
        self.velocity = torch.zeros(size, device=device)

    def step(self, parameters: Tensor, aggregate: Tensor, lr: float) -> None:
        """Moves the parameters by the aggregate (d,) with learning rate `lr`."""
        self.velocity.mul_(self.beta).add_(aggregate)
        parameters.sub_(self.velocity, alpha=lr)

    def state_dict(self) -> dict[str, Tensor]:
        """The velocity v."""
        return {"velocity": self.velocity.clone()}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what `state_dict` gave."""
        self.velocity.copy_(state["velocity"])


class Adam:
    """m <- b1 m + (1-b1) R, v <- b2 v + (1-b2) R^2, theta <- theta - lr m / (sqrt(v) + tau).

    Without bias correction and with tau = 1e-3, as in S. Reddi, Z. Charles, M. Zaheer, Z. Garrett,
    K. Rush, J. Konečný, S. Kumar and B. McMahan, Adaptive federated optimization, ICLR 2021.
    """

    def __init__(
        self,
        size: int,
        *,
        beta: float = 0.9,
        beta2: float = 0.99,
        device: torch.device | str = "cpu",
    ) -> None:
        self.beta, self.beta2 = beta, beta2
        self.first = torch.zeros(size, device=device)
        self.second = torch.zeros(size, device=device)

    def step(self, parameters: Tensor, aggregate: Tensor, lr: float) -> None:
        """Moves the parameters by the aggregate (d,) with learning rate `lr`."""
        self.first.mul_(self.beta).add_(aggregate, alpha=1 - self.beta)
        self.second.mul_(self.beta2).addcmul_(aggregate, aggregate, value=1 - self.beta2)
        parameters.addcdiv_(self.first, self.second.sqrt().add_(TAU), value=-lr)

    def state_dict(self) -> dict[str, Tensor]:
        """Both moments."""
        return {"first": self.first.clone(), "second": self.second.clone()}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what `state_dict` gave."""
        self.first.copy_(state["first"])
        self.second.copy_(state["second"])


class Settings(Protocol):
    """What names a server optimiser: a scenario does, and a recipe."""

    @property
    def server(self) -> Literal["sgd", "momentum", "adam"]:
        """Which one."""

    @property
    def server_beta(self) -> float:
        """Server momentum, or Adam's first one."""

    @property
    def server_beta2(self) -> float:
        """Adam's second momentum."""


def make_server(settings: Settings, size: int, device: torch.device | str = "cpu") -> Server:
    """The server optimiser that the settings name, for `size` parameters."""
    if settings.server == "momentum":
        return Momentum(size, beta=settings.server_beta, device=device)
    if settings.server == "adam":
        beta, beta2 = settings.server_beta, settings.server_beta2
        return Adam(size, beta=beta, beta2=beta2, device=device)
    return SGD()
