"""Floating-point operations of the paper's network, counted by hand, and the machine's peak."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from benchmarks.timing import timed

#: Rows and columns of the matrices whose product tells the peak.
PEAK_SIZE = 2048


@dataclass(frozen=True)
class Layer:
    """One layer and its multiply-add pairs per sample; `first` needs no gradient of its input."""

    name: str
    products: int
    first: bool = False

    @property
    def forward(self) -> int:
        """Operations per sample of the forward pass: a product and a sum for each pair."""
        return 2 * self.products

    @property
    def training(self) -> int:
        """Operations per sample of the forward pass and of both gradients.

        >>> Layer("linear", 100).training, Layer("linear", 100, first=True).training
        (600, 400)
        """
        return (2 if self.first else 3) * self.forward


def convolution(outputs: int, inputs: int, side: int, kernel: int) -> int:
    """Pairs of a convolution: every output value is a sum over inputs x kernel x kernel.

    >>> convolution(outputs=20, inputs=1, side=24, kernel=5)
    288000
    """
    return outputs * side * side * inputs * kernel * kernel


#: C(20)-R-M-C(20)-R-M-L(500)-R-L(10) on 28 x 28: 28 -> 24 -> 12 -> 8 -> 4.
CONVNET = (
    Layer("convolution 1 to 20", convolution(outputs=20, inputs=1, side=24, kernel=5), first=True),
    Layer("convolution 20 to 20", convolution(outputs=20, inputs=20, side=8, kernel=5)),
    Layer("linear 320 to 500", 320 * 500),
    Layer("linear 500 to 10", 500 * 10),
)
FORWARD = sum(layer.forward for layer in CONVNET)
TRAINING = sum(layer.training for layer in CONVNET)


def product_of_matrices(size: int = PEAK_SIZE) -> Callable[[], torch.Tensor]:
    """A call that multiplies two float32 matrices, 2 size^3 operations."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(size, size, generator=generator) for _ in range(2))
    return lambda: a @ b


def rate(operations: float, seconds: float) -> float:
    """Operations per second, in units of 10^9.

    >>> rate(6e9, 2.0)
    3.0
    """
    return operations / seconds / 1e9


def peak_rates(times: int = 9, size: int = PEAK_SIZE) -> list[float]:
    """GFLOP/s of a large matrix product on one thread, several times, after one to warm up."""
    call = product_of_matrices(size)
    call()
    return [rate(2 * size**3, timed(call)[0]) for _ in range(times)]
