"""Reports of the same mass on every class."""

import pytest

from tests.labels.dishonest import distributions
from wola.labels import UniformDistribution


@pytest.mark.parametrize("classes", [1, 3, 10])
def test_every_class_has_the_same_mass_whatever_the_honest_report(classes):
    lies = UniformDistribution()(distributions(5, classes, 0), 2)
    assert lies.tolist() == [[1 / classes] * classes] * 2
