"""The networks are the paper's: layer by layer and parameter by parameter."""

import pytest
import torch
from torch import nn

from wola.models import convnet_cifar10, convnet_mnist, mlp, mlp_purchase100

LETTERS = {
    nn.Conv2d: "C",
    nn.ReLU: "R",
    nn.MaxPool2d: "M",
    nn.BatchNorm2d: "B",
    nn.Dropout: "D",
    nn.Linear: "L",
    nn.Tanh: "T",
}


def written(model: nn.Sequential) -> str:
    """The network in the paper's notation, without sizes."""
    return "".join(LETTERS[type(layer)] for layer in model if type(layer) is not nn.Flatten)


@pytest.mark.parametrize(
    ("model", "count", "letters"),
    [
        (convnet_mnist(), 176_050, "CMRCMRLRL"),
        (convnet_cifar10(), 789_706, "CRBCRBMDCRBCRBMDLRDL"),
        (mlp_purchase100(), 1_297_252, "LLTLTL"),
        (mlp(), 64 * 64 + 64 + 64 * 10 + 10, "LRL"),
    ],
)
def test_networks_have_the_papers_layers_and_counts(model, count, letters):
    assert sum(p.numel() for p in model.parameters()) == count
    assert written(model) == letters


@pytest.mark.parametrize(
    ("model", "shape", "classes"),
    [
        (convnet_mnist, (1, 28, 28), 10),
        (convnet_mnist, (3, 20, 17), 4),
        (convnet_cifar10, (3, 32, 32), 10),
        (convnet_cifar10, (1, 28, 33), 5),
        (mlp_purchase100, (600,), 100),
        (mlp, (3, 5, 2), 7),
    ],
)
def test_networks_take_inputs_of_their_shape(model, shape, classes):
    made = model(shape, classes).eval()(torch.zeros(2, *shape))
    assert made.shape == (2, classes)


@pytest.mark.parametrize("model", [convnet_mnist, convnet_cifar10])
@pytest.mark.parametrize("shape", [(10,), (1, 8, 8)])
def test_a_convolution_refuses_what_is_no_image_or_too_small(model, shape):
    with pytest.raises(ValueError, match=r"shape = .*allowed.*height"):
        model(shape, 10)


def test_the_mlp_takes_any_hidden_layers():
    assert written(mlp((4,), 3, hidden=())) == "L"
    assert written(mlp((4,), 3, hidden=(8, 9))) == "LRLRL"


def test_pooling_before_the_activation_is_the_papers_order_in_value_and_gradient():
    images = torch.randn(3, 2, 8, 8, generator=torch.Generator().manual_seed(0))
    made = []
    for order in ([nn.ReLU(), nn.MaxPool2d(2)], [nn.MaxPool2d(2), nn.ReLU()]):
        x = images.clone().requires_grad_()
        y = nn.Sequential(*order)(x)
        y.square().sum().backward()
        made.append((y.detach(), x.grad))
    assert torch.equal(made[0][0], made[1][0])
    assert torch.equal(made[0][1], made[1][1])
