"""What the server does with an aggregate: a step, a step with momentum, or one of Adam."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType

import torch
from torch import Tensor

from wola.ground.checks import check_number

#: Keeps the step of Adam finite where the aggregates are nearly 0.
TAU = 1e-3


class ServerOptimiser(ABC):
    """What the server does with an aggregate: one verb, which moves the parameters in place.

    It is made for `size` parameters on a `device`; what it remembers between rounds is saved and
    restored through `state_dict` and `load_state_dict`.
    """

    def __init__(self, size: int, *, device: torch.device | str = "cpu") -> None:
        self.size, self.device = size, device

    @abstractmethod
    def step(self, parameters: Tensor, aggregate: Tensor, lr: float) -> None:
        """Moves the parameters (d,) by the aggregate (d,) with learning rate `lr`."""

    def state_dict(self) -> dict[str, Tensor]:
        """What it remembers between rounds: nothing, unless it says otherwise."""
        return {}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what `state_dict` gave."""
        if state:
            raise ValueError(f"state has keys {sorted(state)}; {type(self).__name__} has none")


class SGD(ServerOptimiser):
    """theta <- theta - lr R: the paper's server.

    >>> theta = torch.tensor([1.0])
    >>> SGD(1).step(theta, torch.tensor([2.0]), lr=0.25)
    >>> theta
    tensor([0.5000])
    """

    def step(self, parameters: Tensor, aggregate: Tensor, lr: float) -> None:
        """Moves the parameters by the aggregate (d,) with learning rate `lr`."""
        parameters.sub_(aggregate, alpha=lr)


class Momentum(ServerOptimiser):
    """v <- beta v + R, theta <- theta - lr v.

    Reference: T.-M. H. Hsu, H. Qi and M. Brown, Measuring the effects of non-identical data
    distribution for federated visual classification, 2019.
    """

    def __init__(self, size: int, *, beta: float = 0.9, device: torch.device | str = "cpu") -> None:
        super().__init__(size, device=device)
        check_number("beta", beta, least=0, below=1)
        self.beta = beta
        self.velocity = torch.zeros(size, dtype=torch.float32, device=device)

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


class Adam(ServerOptimiser):
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
        super().__init__(size, device=device)
        check_number("beta", beta, least=0, below=1)
        check_number("beta2", beta2, least=0, below=1)
        self.beta, self.beta2 = beta, beta2
        self.first = torch.zeros(size, dtype=torch.float32, device=device)
        self.second = torch.zeros(size, dtype=torch.float32, device=device)

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


SERVERS: Mapping[str, type[ServerOptimiser]] = MappingProxyType(
    {"sgd": SGD, "momentum": Momentum, "adam": Adam}
)
