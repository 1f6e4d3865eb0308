"""The networks: the paper's three, and a multi-layer perceptron for small data."""

from collections.abc import Sequence
from math import prod

from torch import nn

Shape = Sequence[int]


def convnet_mnist(shape: Shape = (1, 28, 28), classes: int = 10) -> nn.Sequential:
    """The paper's network for MNIST and Fashion-MNIST: 176,050 parameters.

    C(20)-R-M-C(20)-R-M-L(500)-R-L(classes) on images of ``shape`` (channels, height, width):
    5 x 5 convolutions without padding, 2 x 2 max-pooling. R-M is computed as M-R, which is the
    same function and gradient on a quarter of the values. Reference: Y. Allouah, S. Farhadkhani,
    R. Guerraoui, N. Gupta, R. Pinot and J. Stephan, Fixing by mixing: a recipe for optimal
    Byzantine ML under heterogeneity, AISTATS 2023.

    >>> sum(p.numel() for p in convnet_mnist().parameters())
    176050
    """
    channels, height, width = _image(shape, least=16, name="convnet_mnist")
    left = [_pooled(_pooled(side - 4) - 4) for side in (height, width)]
    return nn.Sequential(
        nn.Conv2d(channels, 20, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(20, 20, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(20 * prod(left), 500),
        nn.ReLU(),
        nn.Linear(500, classes),
    )


def convnet_cifar10(shape: Shape = (3, 32, 32), classes: int = 10) -> nn.Sequential:
    """The paper's network for CIFAR-10: 789,706 parameters, with batch normalisation and dropout.

    C(64)-R-B-C(64)-R-B-M-D-C(128)-R-B-C(128)-R-B-M-D-L(128)-R-D-L(classes) on images of ``shape``
    (channels, height, width): 5 x 5 convolutions without padding, dropout 0.25. Reference: as for
    :func:`convnet_mnist`.

    >>> sum(p.numel() for p in convnet_cifar10().parameters())
    789706
    """
    channels, height, width = _image(shape, least=28, name="convnet_cifar10")
    left = [_pooled(_pooled(side - 8) - 8) for side in (height, width)]
    layers: list[nn.Module] = []
    for inputs, outputs in ((channels, 64), (64, 128)):
        for before in (inputs, outputs):
            layers += [nn.Conv2d(before, outputs, 5), nn.ReLU(), nn.BatchNorm2d(outputs)]
        layers += [nn.MaxPool2d(2), nn.Dropout(0.25)]
    return nn.Sequential(
        *layers,
        nn.Flatten(),
        nn.Linear(128 * prod(left), 128),
        nn.ReLU(),
        nn.Dropout(0.25),
        nn.Linear(128, classes),
    )


def mlp_purchase100(shape: Shape = (600,), classes: int = 100) -> nn.Sequential:
    """The paper's network for Purchase100: 1,297,252 parameters.

    L(1024)-L(512)-T-L(256)-T-L(classes), with no activation after the first layer, as written
    there. Reference: M. Nasr, R. Shokri and A. Houmansadr, Machine learning with membership
    privacy using adversarial regularization, CCS 2018.

    >>> sum(p.numel() for p in mlp_purchase100().parameters())
    1297252
    """
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(prod(shape), 1024),
        nn.Linear(1024, 512),
        nn.Tanh(),
        nn.Linear(512, 256),
        nn.Tanh(),
        nn.Linear(256, classes),
    )


def mlp(shape: Shape = (1, 8, 8), classes: int = 10, hidden: Shape = (64,)) -> nn.Sequential:
    """Linear layers with ReLU between them on the flattened input: for digits, iris, your own.

    >>> mlp((4,), classes=3, hidden=(16,))
    Sequential(
      (0): Flatten(start_dim=1, end_dim=-1)
      (1): Linear(in_features=4, out_features=16, bias=True)
      (2): ReLU()
      (3): Linear(in_features=16, out_features=3, bias=True)
    )
    """
    layers: list[nn.Module] = [nn.Flatten()]
    inputs = prod(shape)
    for outputs in hidden:
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        inputs = outputs
    return nn.Sequential(*layers, nn.Linear(inputs, classes))


def _image(shape: Shape, *, least: int, name: str) -> tuple[int, int, int]:
    if len(shape) != 3 or min(shape[1:]) < least:
        raise ValueError(
            f"shape = {tuple(shape)}; allowed for {name}: (channels, height, width) with height "
            f"and width >= {least}"
        )
    return shape[0], shape[1], shape[2]


def _pooled(side: int) -> int:
    return side // 2
