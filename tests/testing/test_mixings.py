"""The public battery catches mixings that are broken, each in one way."""

from typing import ClassVar

import numpy as np
import pytest
import torch

from wola.mixing import Clipping, Mixing
from wola.testing import check_mixing


class OfFixedMatrix(Mixing):
    """The identity, spoilt by `rows`."""

    needs_products: ClassVar[bool] = False

    def mix(self, space, f, generator):
        return self.rows(np.eye(space.n), space)

    def rows(self, matrix, space):
        return matrix


class DropsOneWithoutSaying(OfFixedMatrix):
    def rows(self, matrix, space):
        return matrix[:-1] if len(matrix) > 1 else matrix


class RowsDoNotSumToOne(OfFixedMatrix):
    def rows(self, matrix, space):
        return 0.5 * matrix


class FavoursTheFirst(OfFixedMatrix):
    def rows(self, matrix, space):
        return 0.5 * matrix + 0.5 * matrix[:1]


class NearestByPosition(Mixing):
    """Nearest neighbours in which ties go to the first."""

    def mix(self, space, f, generator):
        nearest = np.argsort(space.squared_distances, axis=1, kind="stable")[:, : space.n - f]
        matrix = np.zeros((space.n, space.n))
        np.put_along_axis(matrix, nearest, 1 / (space.n - f), axis=1)
        return matrix


class ShortensByLength(OfFixedMatrix):
    def rows(self, matrix, space):
        return matrix / (1 + space.norms[:, None])


class Tells(Mixing):
    """A matrix that is not the one it mixes with."""

    needs_products: ClassVar[bool] = False

    def mix(self, space, f, generator):
        return np.eye(space.n)

    def matrix(self, updates, f, generator=None):
        return 2 * super().matrix(updates, f, generator)


class AcceptsAnyF(OfFixedMatrix):
    def check(self, n, f):
        if isinstance(f, bool) or f < 0:
            raise ValueError(f"f = {f}")


class MixesNan(OfFixedMatrix):
    def __call__(self, updates, f, generator=None):
        result = super().__call__(updates, f, generator)
        broken = torch.is_tensor(updates) and not bool(updates.isfinite().all())
        return result * float("nan") if broken else result


class ShufflesGlobally(OfFixedMatrix):
    def rows(self, matrix, space):
        return matrix[torch.randperm(len(matrix)).numpy()]


class MixingChangesItsInput(OfFixedMatrix):
    def __call__(self, updates, f, generator=None):
        if torch.is_tensor(updates) and not updates.requires_grad and updates.numel():
            updates[0, 0] += 1e-9
        return super().__call__(updates, f, generator)


@pytest.mark.parametrize(
    ("mixing", "message"),
    [
        (DropsOneWithoutSaying(), r"matrix of shape \(10, 11\), expected \(11, 11\)"),
        (RowsDoNotSumToOne(), "translat|row sums"),
        (FavoursTheFirst(), "Another order of the workers"),
        (ShortensByLength(), "translat|overflows"),
        (NearestByPosition(), "Another order of tied workers"),
        (Tells(), "mixtures"),
        (AcceptsAnyF(), r"check\(11, 6\): accepted"),
        (MixesNan(), "NaN worker"),
        (ShufflesGlobally(), "fails '"),
        (MixingChangesItsInput(), "fails '"),
        (Clipping(), "translat"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_broken_mixing_is_caught(mixing, message):
    with pytest.raises(AssertionError, match=message) as caught:
        check_mixing(mixing)
    assert "n = " in str(caught.value)


def test_a_mixing_that_scales_is_caught_by_its_row_sums_alone():
    with pytest.raises(AssertionError, match="row sums"):
        check_mixing(RowsDoNotSumToOne(), translation=False)
    check_mixing(RowsDoNotSumToOne(), translation=False, average=False)
