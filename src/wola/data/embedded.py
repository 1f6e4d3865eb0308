"""The datasets that come with scikit-learn: nothing to download."""

import numpy as np

from wola.data.arrays import Arrays, checked_arrays, split


def digits() -> Arrays:
    """1,797 handwritten digits, (1, 8, 8), values 0 to 16; 1,437 train and 360 test.

    Reference: E. Alpaydin and C. Kaynak, Optical recognition of handwritten digits, UCI machine
    learning repository, 1998.

    >>> digits().x_train.shape, digits().y_test.shape
    ((1437, 1, 8, 8), (360,))
    """
    # Imported where it is used: scikit-learn takes as long to import as all the rest together.
    from sklearn.datasets import load_digits

    bunch = load_digits()
    parts = split(bunch.images.astype(np.uint8), bunch.target)
    return checked_arrays(*parts, classes=[str(digit) for digit in range(10)], origin="digits")


def iris() -> Arrays:
    """150 flowers of three species, four lengths in cm each; 120 train and 30 test.

    Reference: R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of
    Eugenics, 1936.

    >>> iris().classes, np.bincount(iris().y_test)
    (('setosa', 'versicolor', 'virginica'), array([10, 10, 10]))
    """
    from sklearn.datasets import load_iris

    bunch = load_iris()
    names = [str(name) for name in bunch.target_names]
    return checked_arrays(*split(bunch.data, bunch.target), classes=names, origin="iris")
