"""The gradient dissimilarity against its definition."""

import math

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from wola.labels import gradient_dissimilarity
from wola.labels.dissimilarity import BLOCK


def reference(updates: np.ndarray) -> float:
    x = updates.astype(np.longdouble)
    return float(np.mean([((row - x.mean(0)) ** 2).sum() for row in x]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("n", "d"), [(1, 5), (2, 1), (7, 33), (3, BLOCK), (3, 2 * BLOCK + 5)])
def test_it_is_the_mean_squared_distance_to_the_mean(n, d, dtype):
    updates = torch.randn(n, d, generator=torch.Generator().manual_seed(1)).to(dtype)
    expected = reference(updates.numpy())
    assert gradient_dissimilarity(updates) == pytest.approx(expected, rel=1e-12)


def test_a_huge_common_part_cancels():
    generator = torch.Generator().manual_seed(2)
    common = 1e6 * torch.ones(1000)
    updates = common + torch.randint(-4, 5, (9, 1000), generator=generator).float() / 16
    expected = reference(updates.numpy())
    assert gradient_dissimilarity(updates) == pytest.approx(expected, rel=1e-9)


def test_values_that_overflow_in_float32_when_squared_do_not_here():
    updates = torch.tensor([[1e30], [-1e30]])
    assert gradient_dissimilarity(updates) == pytest.approx(1e60, rel=1e-6)


def test_identical_updates_have_none():
    assert gradient_dissimilarity(torch.full((5, 100), 0.1)) == 0.0


def test_no_coordinates_give_none():
    assert gradient_dissimilarity(torch.zeros(3, 0)) == 0.0


def test_a_sequence_of_vectors_and_a_transposed_matrix_give_the_same():
    updates = torch.randn(4, 50, generator=torch.Generator().manual_seed(3))
    whole = gradient_dissimilarity(updates)
    assert gradient_dissimilarity(list(updates)) == whole
    assert gradient_dissimilarity(updates.t().contiguous().t()) == whole


def test_half_precision_updates_are_summed_in_float64():
    updates = torch.randn(4, 5000, generator=torch.Generator().manual_seed(4)).bfloat16()
    expected = reference(updates.double().numpy())
    assert gradient_dissimilarity(updates) == pytest.approx(expected, rel=1e-12)


def test_updates_with_a_graph_are_measured_and_untouched():
    updates = torch.randn(3, 4, requires_grad=True, generator=torch.Generator().manual_seed(5))
    before = updates.detach().clone()
    assert isinstance(gradient_dissimilarity(updates), float)
    assert torch.equal(updates.detach(), before)


def test_a_non_finite_update_gives_nan():
    assert math.isnan(gradient_dissimilarity(torch.tensor([[1.0], [float("inf")]])))


class LargestFloat64(TorchDispatchMode):
    """Watches every operation and remembers the largest float64 tensor it made."""

    numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.dtype == torch.float64:
            self.numel = max(self.numel, result.numel())
        return result


def test_a_large_matrix_is_not_copied():
    with LargestFloat64() as watch:
        gradient_dissimilarity(torch.zeros(4, 10 * BLOCK))
    assert 0 < watch.numel <= 4 * BLOCK


@pytest.mark.parametrize(
    ("updates", "error", "words"),
    [
        (torch.zeros(3), ValueError, r"updates must have shape \(n, d\), got \(3,\)"),
        (torch.zeros(0, 3), ValueError, "at least one update, got none"),
        ([], ValueError, "at least one update, got none"),
        (
            torch.zeros(2, 3, dtype=torch.int64),
            TypeError,
            "floating-point tensors, got torch.int64",
        ),
        ([torch.zeros(2), torch.zeros(3)], ValueError, r"one length, got shape \(3,\) at 1"),
        ([torch.zeros(2, 2)], ValueError, r"vectors of one length, got shape \(2, 2\)"),
        ([[1.0, 2.0]], TypeError, "floating-point tensors, got list at 0"),
        (None, TypeError, "a tensor or a sequence of tensors, got NoneType"),
    ],
)
def test_bad_updates_are_refused(updates, error, words):
    with pytest.raises(error, match=words):
        gradient_dissimilarity(updates)
