import numpy as np
import pytest
import torch

from tests.attacks.sample import as_float64, honest_updates
from wola.attacks import _moments
from wola.attacks._moments import BLOCK, mean_and_std, squared_distance


@pytest.mark.parametrize("h", [1, 2, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("d", [1, BLOCK - 1, BLOCK, 3 * BLOCK + 7])
def test_any_combination_of_mean_and_std_matches_float64(h, d):
    honest = honest_updates(h, d, dtype=torch.float32)
    values = as_float64(honest)
    for a, b in [(1.0, 0.0), (-2.5, 0.0), (0.0, 1.0), (1.0, -0.7)]:
        expected = a * values.mean(0) + b * values.std(0)
        np.testing.assert_allclose(mean_and_std(honest, a, b).numpy(), expected, atol=1e-6)


def test_the_spread_around_a_huge_common_part_is_not_lost():
    honest = honest_updates(9, 50) * 1e-3 + 1e6
    exact = honest - 1e6
    std = mean_and_std(honest, 0.0, 1.0)
    np.testing.assert_allclose(std.numpy(), exact.numpy().std(0), rtol=1e-6)


def test_chunks_for_threads_give_the_same_bits(monkeypatch):
    honest = honest_updates(5, 4000, dtype=torch.float32)
    whole = mean_and_std(honest, 1.0, 0.5)
    monkeypatch.setattr("wola.aggregation.columns.CHUNK", 700)
    assert torch.equal(mean_and_std(honest, 1.0, 0.5), whole)


@pytest.mark.parametrize("b", [0.0, 0.5])
def test_the_path_for_other_devices_agrees(b):
    class Elsewhere(torch.Tensor):
        @property
        def device(self):
            return torch.device("meta")

    honest = honest_updates(6, 40, dtype=torch.float32)
    other = mean_and_std(honest.as_subclass(Elsewhere), 1.0, b).as_subclass(torch.Tensor)
    torch.testing.assert_close(other, mean_and_std(honest, 1.0, b))
    near, far = honest[0].as_subclass(Elsewhere), honest[1].as_subclass(Elsewhere)
    assert squared_distance(near, far) == pytest.approx(squared_distance(honest[0], honest[1]))


def test_squared_distances_do_not_overflow_in_float32():
    a, b = torch.full((3,), 1e30), torch.full((3,), -1e30)
    assert squared_distance(a, b) == pytest.approx(12e60)


def test_the_kernels_say_the_same_uncompiled():
    honest = honest_updates(6, 70).numpy()
    out = np.empty(70)
    _moments.combine_moments.py_func(honest, 1.0, 0.5, 0, 70, out)
    np.testing.assert_allclose(out, honest.mean(0) + 0.5 * honest.std(0))
