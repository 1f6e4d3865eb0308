"""Factories that tests name by import path."""

import torch
from torch import Tensor, nn

number = 7


def tiny_convnet(shape, classes):
    """A convolution, a rectifier and a linear layer."""
    height, width = shape[1] - 2, shape[2] - 2
    return nn.Sequential(
        nn.Conv2d(shape[0], 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * height * width, classes)
    )


def normalised_convnet(shape, classes):
    """With batch normalisation and dropout."""
    height, width = shape[1] - 2, shape[2] - 2
    return nn.Sequential(
        nn.Conv2d(shape[0], 3, 3),
        nn.BatchNorm2d(3),
        nn.ReLU(),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(3 * height * width, classes),
    )


class Wrapped(nn.Module):
    """The small perceptron, hidden from anything that looks for an nn.Sequential."""

    def __init__(self, shape, classes):
        super().__init__()
        inputs = torch.Size(shape).numel()
        self.inner = nn.Sequential(
            nn.Flatten(), nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, classes)
        )

    def forward(self, x: Tensor) -> Tensor:
        """The perceptron's logits."""
        return self.inner(x)


def without_parameters(shape, classes):
    """A model that cannot learn."""
    return nn.Sequential(nn.Flatten())


def wrong_outputs(shape, classes):
    """One logit too many."""
    return nn.Sequential(nn.Flatten(), nn.Linear(torch.Size(shape).numel(), classes + 1))


def for_vectors_of_three(shape, classes):
    """Takes three numbers, whatever the data is."""
    return nn.Sequential(nn.Linear(3, classes))


def no_model(shape, classes):
    """Not a module."""
    return [shape, classes]


def wide(shape, classes, width=4):
    """A hidden layer of a width that can be given."""
    inputs = torch.Size(shape).numel()
    return nn.Sequential(
        nn.Flatten(), nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, classes)
    )


class Plain(nn.Module):
    """A network for digits alone, which asks for no shape."""

    def __init__(self, width=8):
        super().__init__()
        self.inner = nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.Linear(width, 10))

    def forward(self, x: Tensor) -> Tensor:
        """The logits."""
        return self.inner(x)


class NoModel:
    """Not a module."""
