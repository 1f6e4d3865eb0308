"""The privacy mechanisms: their sensitivity, their calibration and the law of their noise."""

import itertools
import math

import pytest
import torch
from scipy import optimize, stats

from wola.labels import GaussianMechanism, LaplaceMechanism, label_counts, label_distribution
from wola.labels.noise import privacy_loss
from wola.labels.simplex import is_distribution

MECHANISMS = [LaplaceMechanism(0.5), GaussianMechanism(0.5, 1e-5)]


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("samples", [1, 2, 4])
def test_the_stated_sensitivities_are_the_largest_over_all_neighbours(samples):
    l1 = l2 = 0.0
    for labels in itertools.product(range(3), repeat=samples):
        p = label_distribution(label_counts(labels, 3))
        for k, label in itertools.product(range(samples), range(3)):
            other = (*labels[:k], label, *labels[k + 1 :])
            change = p - label_distribution(label_counts(other, 3))
            l1, l2 = max(l1, float(change.norm(p=1))), max(l2, float(change.norm(p=2)))
    assert l1 == pytest.approx(2 / samples)
    assert l2 == pytest.approx(math.sqrt(2) / samples)
    # At epsilon 1 the Laplace scale is the L1 sensitivity itself.
    assert LaplaceMechanism(1.0).scale(samples) == pytest.approx(l1)


def analytic_delta(sigma: float, sensitivity: float, epsilon: float) -> float:
    a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return float(stats.norm.cdf(a - b) - math.exp(epsilon + stats.norm.logcdf(-a - b)))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.1])
def test_the_gaussian_scale_solves_the_exact_condition(epsilon, delta):
    samples = 37
    sensitivity = math.sqrt(2) / samples
    expected = optimize.brentq(
        lambda log: (
            math.log(max(analytic_delta(math.exp(log), sensitivity, epsilon), 1e-300))
            - math.log(delta)
        ),
        math.log(sensitivity * 1e-2),
        math.log(sensitivity * 1e5),
        xtol=1e-13,
    )
    scale = GaussianMechanism(epsilon, delta).scale(samples)
    assert scale == pytest.approx(math.exp(expected), rel=1e-5)
    assert analytic_delta(scale, sensitivity, epsilon) == pytest.approx(delta, rel=1e-4)


def test_the_gaussian_scale_is_the_smallest_one():
    scale = GaussianMechanism(2.0, 1e-6).scale(1) / math.sqrt(2)
    assert privacy_loss(scale, 2.0) <= 1e-6 < privacy_loss(scale * (1 - 1e-12), 2.0)


def test_the_gaussian_scale_is_below_the_classic_bound_where_that_holds():
    classic = math.sqrt(2 * math.log(1.25 / 1e-5)) / 0.5 * math.sqrt(2) / 10
    assert GaussianMechanism(0.5, 1e-5).scale(10) < classic


@pytest.mark.parametrize("epsilon", [1e-6, 1e3, 1e6])
def test_extreme_epsilons_have_a_finite_scale(epsilon):
    scale = GaussianMechanism(epsilon, 1e-12).scale(100)
    assert 0 < scale < math.inf


def test_laplace_noise_follows_its_law():
    mechanism = LaplaceMechanism(0.5)
    noise = mechanism.noise(20_000, samples=50, generator=seeded(1)).numpy()
    assert stats.kstest(noise, stats.laplace(scale=2 / (50 * 0.5)).cdf).pvalue > 0.01
    assert stats.kstest(noise, stats.laplace(scale=1.1 * 2 / 25).cdf).pvalue < 1e-4


def test_gaussian_noise_follows_its_law():
    mechanism = GaussianMechanism(0.5, 1e-5)
    noise = mechanism.noise(20_000, samples=50, generator=seeded(2)).numpy()
    sigma = mechanism.scale(50)
    assert stats.kstest(noise, stats.norm(scale=sigma).cdf).pvalue > 0.01
    assert stats.kstest(noise, stats.norm(scale=1.1 * sigma).cdf).pvalue < 1e-4


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_noise_of_different_classes_is_independent(mechanism):
    generator = seeded(3)
    pairs = torch.stack([mechanism.noise(2, 10, generator=generator) for _ in range(3000)])
    assert abs(stats.spearmanr(pairs[:, 0], pairs[:, 1]).statistic) < 0.05


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("samples", [1, 10, 10_000])
def test_a_noisy_distribution_is_a_distribution(mechanism, samples):
    generator = seeded(4)
    for _ in range(50):
        assert is_distribution(mechanism([0.7, 0.2, 0.1, 0.0], samples, generator=generator))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_projection_never_adds_error(mechanism):
    p = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)
    for seed in range(50):
        raw = mechanism.noise(3, 20, generator=seeded(seed))
        noisy = mechanism(p, 20, generator=seeded(seed))
        assert (noisy - p).norm() <= raw.norm() + 1e-12


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_more_samples_need_less_noise(mechanism):
    assert mechanism.scale(1000) == pytest.approx(mechanism.scale(10) / 100)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_same_seed_gives_the_same_noise_and_no_seed_a_fresh_one(mechanism):
    first = mechanism([0.5, 0.5], 10, generator=seeded(5))
    assert torch.equal(first, mechanism([0.5, 0.5], 10, generator=seeded(5)))
    assert not torch.equal(mechanism.noise(9, 10), mechanism.noise(9, 10))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_global_random_state_is_left_alone(mechanism):
    before = torch.get_rng_state()
    mechanism([0.5, 0.5], 10)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("make", [LaplaceMechanism, lambda e: GaussianMechanism(e, 1e-5)])
@pytest.mark.parametrize(
    ("epsilon", "error"),
    [
        (0.0, ValueError),
        (-1.0, ValueError),
        (math.nan, ValueError),
        (math.inf, ValueError),
        ("1", TypeError),
        (True, TypeError),
        (None, TypeError),
    ],
)
def test_a_bad_epsilon_is_refused(make, epsilon, error):
    with pytest.raises(error, match=r"epsilon = .*; allowed: a finite number > 0"):
        make(epsilon)


@pytest.mark.parametrize(
    ("delta", "error"),
    [
        (0.0, ValueError),
        (1.0, ValueError),
        (-0.1, ValueError),
        (math.nan, ValueError),
        ("1", TypeError),
    ],
)
def test_a_bad_delta_is_refused(delta, error):
    with pytest.raises(error, match=r"delta = .*; allowed: a finite number > 0 and < 1"):
        GaussianMechanism(1.0, delta)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(
    ("samples", "error"), [(0, ValueError), (-3, ValueError), (1.5, TypeError)]
)
def test_a_bad_number_of_samples_is_refused(mechanism, samples, error):
    with pytest.raises(error, match=r"samples = .*; allowed: an int >= 1"):
        mechanism([0.5, 0.5], samples)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_bad_distribution_is_refused(mechanism):
    with pytest.raises(ValueError, match="distribution must sum to 1"):
        mechanism([0.5, 0.6], 10)
