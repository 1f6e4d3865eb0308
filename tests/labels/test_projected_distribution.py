"""Reports that explain what is sent."""

import numpy as np
import pytest
import torch

from tests.labels.dishonest import distributions
from wola.labels import ProjectedDistribution
from wola.labels.simplex import is_distribution

H, C, D = 9, 4, 30


def made(seed=0, f=2):
    """Reports and updates of H honest workers and f attackers, and the gradients of the classes."""
    generator = torch.Generator().manual_seed(seed)
    reports = torch.cat([distributions(H, C, seed), torch.full((f, C), 1 / C, dtype=torch.float64)])
    classes = torch.randn(C, D, generator=generator, dtype=torch.float64)
    updates = reports @ classes
    updates[H:] = torch.randn(f, D, generator=generator, dtype=torch.float64)
    return reports, updates, classes


@pytest.mark.parametrize("seed", range(5))
def test_a_mix_of_the_classes_is_told_as_what_it_is(seed):
    reports, updates, classes = made(seed)
    mixes = distributions(2, C, seed + 50)
    updates[H:] = mixes @ classes
    told = ProjectedDistribution().told(reports, updates, H)
    np.testing.assert_allclose(told, mixes, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_no_distribution_explains_what_is_sent_better(seed):
    reports, updates, _ = made(seed)
    updates[:H] += 0.3 * torch.randn(H, D, generator=torch.Generator().manual_seed(seed))
    updates[H] = -updates[:H].mean(0)
    told = ProjectedDistribution().told(reports, updates, H)
    assert is_distribution(told).all()
    gradients = torch.linalg.pinv(reports[:H]) @ updates[:H]
    for lie, sent in zip(told, updates[H:], strict=True):
        off = float((sent - lie @ gradients).norm())
        others = torch.cat([distributions(300, C, seed, alpha=0.5), torch.eye(C).double()])
        # All that lies between the lie and another distribution is tried as well.
        for share in (1.0, 0.1, 0.001):
            tried = (1 - share) * lie + share * others
            assert float((sent - tried @ gradients).norm(dim=1).min()) >= off - 1e-9


def test_it_does_not_depend_on_the_scale_and_keeps_float32():
    reports, updates, _ = made()
    one = ProjectedDistribution().told(reports, updates, H)
    other = ProjectedDistribution().told(reports, (1e-6 * updates).float(), H)
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_what_is_not_finite_is_not_explained_and_reaches_nobody():
    reports, updates, _ = made(f=3)
    expected = ProjectedDistribution().told(reports, updates, H)
    updates[H + 1] = float("nan")
    told = ProjectedDistribution().told(reports, updates, H)
    assert torch.equal(told[1], reports[H + 1])
    np.testing.assert_allclose(told[[0, 2]], expected[[0, 2]], atol=1e-9)
    updates[4, 2] = float("inf")
    rest = [i for i in range(H + 3) if i != 4]
    without = ProjectedDistribution().told(reports[rest], updates[rest], H - 1)
    np.testing.assert_allclose(
        ProjectedDistribution().told(reports, updates, H), without, atol=1e-9
    )
    updates[:H] = float("nan")
    assert torch.equal(ProjectedDistribution().told(reports, updates, H), reports[H:])


def test_before_any_round_the_honest_mean_is_reported():
    honest = distributions(H, C, 1)
    lies = ProjectedDistribution()(honest, 2)
    np.testing.assert_allclose(lies, honest.mean(0).expand(2, -1))
