"""The server's steps: PyTorch's own optimiser, or the formula by hand."""

import pytest
import torch

from wola.training import PARTS
from wola.training.server import SGD, Adam, Momentum

AGGREGATES = torch.randn(6, 5, generator=torch.Generator().manual_seed(1))
RATES = [0.5, 0.5, 0.25, 0.25, 0.1, 0.1]


def moved(server, start=0, theta=None):
    theta = torch.zeros(5) if theta is None else theta.clone()
    for aggregate, lr in list(zip(AGGREGATES, RATES, strict=True))[start:]:
        server.step(theta, aggregate, lr)
    return theta


@pytest.mark.parametrize(("server", "beta"), [(SGD(5), 0.0), (Momentum(5, beta=0.8), 0.8)])
def test_sgd_and_momentum_are_those_of_pytorch(server, beta):
    weight = torch.zeros(5, requires_grad=True)
    optimiser = torch.optim.SGD([weight], lr=1.0, momentum=beta)
    for aggregate, lr in zip(AGGREGATES, RATES, strict=True):
        optimiser.param_groups[0]["lr"] = lr
        weight.grad = aggregate.clone()
        optimiser.step()
    torch.testing.assert_close(moved(server), weight.detach())


def test_adam_is_its_formula():
    m, v, theta = torch.zeros(5).double(), torch.zeros(5).double(), torch.zeros(5).double()
    for aggregate, lr in zip(AGGREGATES.double(), RATES, strict=True):
        m = 0.7 * m + 0.3 * aggregate
        v = 0.9 * v + 0.1 * aggregate**2
        theta = theta - lr * m / (v**0.5 + 1e-3)
    torch.testing.assert_close(moved(Adam(5, beta=0.7, beta2=0.9)), theta.float())


@pytest.mark.parametrize("make", [lambda: SGD(5), lambda: Momentum(5), lambda: Adam(5)])
def test_a_server_goes_on_from_its_state(make):
    server, theta = make(), torch.zeros(5)
    for aggregate, lr in list(zip(AGGREGATES, RATES, strict=True))[:3]:
        server.step(theta, aggregate, lr)
    other = make()
    other.load_state_dict(server.state_dict())
    assert torch.equal(moved(server, 3, theta), moved(other, 3, theta))


@pytest.mark.parametrize(
    ("text", "kind", "betas"),
    [
        ("sgd", SGD, {}),
        ("momentum(beta=0.3)", Momentum, {"beta": 0.3}),
        ("adam(beta2=0.4)", Adam, {"beta": 0.9, "beta2": 0.4}),
    ],
)
def test_a_text_names_a_server_with_its_parameters(text, kind, betas):
    server = PARTS.make("server", PARTS.settle("server", text))(5, device="cpu")
    assert isinstance(server, kind)
    assert {name: getattr(server, name) for name in betas} == betas


@pytest.mark.parametrize("text", ["momentum(beta=1)", "adam(beta2=-0.1)", "momentum(beta2=0.1)"])
def test_an_impossible_server_is_refused_before_it_is_made(text):
    with pytest.raises(ValueError, match="allowed"):
        PARTS.settle("server", text)
