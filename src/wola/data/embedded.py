"""The datasets that come with scikit-learn: nothing to download."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wola.data.arrays import checked_arrays, split
from wola.data.dataset import Dataset, make_dataset
from wola.data.source import DataSource


class Embedded(DataSource):
    """A dataset that needs no file."""


@dataclass(frozen=True)
class Digits(Embedded):
    """1,797 handwritten digits of 8 x 8 pixels, embedded in scikit-learn.

    Values 0 to 16; 1,437 train and 360 test. Reference: E. Alpaydin and C. Kaynak, Optical
    recognition of handwritten digits, UCI machine learning repository, 1998.

    >>> Digits().load().x_train.shape
    torch.Size([1437, 1, 8, 8])
    """

    name: ClassVar[str] = "digits"

    def load(self) -> Dataset:
        """The dataset."""
        # Imported where it is used: scikit-learn takes as long to import as all the rest together.
        from sklearn.datasets import load_digits

        bunch = load_digits()
        parts = split(bunch.images.astype(np.uint8), bunch.target)
        names = [str(digit) for digit in range(10)]
        arrays = checked_arrays(*parts, classes=names, origin=self.name)
        return make_dataset(self.name, arrays, scale=16)


@dataclass(frozen=True)
class Iris(Embedded):
    """150 flowers of three species, four lengths each, embedded in scikit-learn.

    Lengths in cm; 120 train and 30 test. Reference: R. A. Fisher, The use of multiple
    measurements in taxonomic problems, Annals of Eugenics, 1936.

    >>> Iris().load().classes
    ('setosa', 'versicolor', 'virginica')
    """

    name: ClassVar[str] = "iris"

    def load(self) -> Dataset:
        """The dataset."""
        from sklearn.datasets import load_iris

        bunch = load_iris()
        names = [str(name) for name in bunch.target_names]
        arrays = checked_arrays(*split(bunch.data, bunch.target), classes=names, origin=self.name)
        return make_dataset(self.name, arrays)
