"""The training objective: prior, uniform, and estimated from reports that may be lies."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from wola import aggregation, mixing
from wola.aggregation import CoordinateMedian, GeometricMedian, Mean
from wola.labels import (
    GaussianMechanism,
    LaplaceMechanism,
    OutlierDistribution,
    Prior,
    RarestClass,
    Shared,
    Uniform,
    WorstDistribution,
    label_counts,
    label_distribution,
    total_variation,
)
from wola.labels.simplex import is_distribution
from wola.mixing import NNM

RULES = {
    "mean": aggregation.Mean(),
    "median": aggregation.CoordinateMedian(),
    "trimmed mean": aggregation.TrimmedMean(),
    "mean around median": aggregation.MeaMed(),
    "geometric median": aggregation.GeometricMedian(),
    "geometric median of the paper": aggregation.GeometricMedian(iterations=10, nu=0.1),
    "Krum": aggregation.Krum(),
    "Multi-Krum": aggregation.MultiKrum(),
    "MDA": aggregation.MinimumDiameterAveraging(),
    "CGE": aggregation.ComparativeGradientElimination(),
    "centred clipping": aggregation.CenteredClipping(),
    "Bulyan": aggregation.Bulyan(),
    "SMEA": aggregation.SMEA(),
    "CAF": aggregation.CAF(),
    "NNM then geometric median": NNM() | GeometricMedian(),
    "NNM then median": NNM() | CoordinateMedian(),
    "bucketing then median": mixing.Bucketing() | CoordinateMedian(),
    "FoundationFL then trimmed mean": mixing.FoundationFL() | aggregation.TrimmedMean(),
    "ARC then mean": mixing.ARC() | Mean(),
    "clipping then mean": mixing.Clipping(0.5) | Mean(),
}
ATTACKS = [RarestClass(), OutlierDistribution(), WorstDistribution(beam=3, rounds=1)]


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def reports(n: int, classes: int, alpha: float, seed: int) -> torch.Tensor:
    rows = np.random.default_rng(seed).dirichlet(np.full(classes, alpha) + 1e-3, size=n)
    return torch.tensor(rows)


def paper_estimate(rows: np.ndarray, iterations: int = 3, nu: float = 0.1) -> np.ndarray:
    """Smoothed Weiszfeld from the zero vector, written from its definition."""
    z = np.zeros(rows.shape[1])
    for _ in range(iterations):
        w = np.array([1 / max(nu, np.linalg.norm(row - z)) for row in rows])
        z = (w[:, None] * rows).sum(0) / w.sum()
    return z


def test_a_prior_ignores_what_is_reported():
    q = [0.1, 0.2, 0.7]
    nonsense = torch.full((4, 3), math.nan)
    assert Prior(q)(nonsense, 1).tolist() == q
    assert Uniform()(nonsense, 1).tolist() == [1 / 3] * 3


def test_a_prior_is_a_hashable_value():
    assert Prior([0.5, 0.5]) == Prior(torch.tensor([0.5, 0.5])) == Prior(np.array([0.5, 0.5]))
    assert hash(Prior([0.5, 0.5])) == hash(Prior((0.5, 0.5)))


def test_a_result_can_be_changed_without_changing_the_prior():
    prior = Prior([0.5, 0.5])
    prior(torch.ones(1, 2), 0)[0] = 9.0
    assert prior.q == (0.5, 0.5)


def test_only_shared_needs_reports():
    assert (Prior([1.0]).needs_reports, Uniform().needs_reports) == (False, False)
    assert Shared().needs_reports


@pytest.mark.parametrize(
    ("q", "words"),
    [
        ([0.5, 0.6], "q must sum to 1"),
        ([-0.5, 1.5], "q must be non-negative"),
        ([math.nan, 1.0], "q must be finite"),
        ([], "q must have at least one entry"),
    ],
)
def test_a_bad_prior_is_refused(q, words):
    with pytest.raises(ValueError, match=words):
        Prior(q)


def test_a_prior_of_another_length_than_the_reports_is_refused():
    with pytest.raises(ValueError, match="q must have one entry for each of 3 classes, got 2"):
        Prior([0.5, 0.5])(torch.ones(4, 3), 1)


@pytest.mark.parametrize("objective", [Prior([0.5, 0.5]), Uniform(), Shared()])
@pytest.mark.parametrize(
    ("rows", "f", "error", "words"),
    [
        (torch.ones(2), 0, ValueError, "distributions must have 2 dimensions"),
        (torch.ones(0, 2), 0, ValueError, "at least one row and one class"),
        ("ab", 0, ValueError, "distributions must"),
        (torch.full((3, 2), 0.5), -1, ValueError, "f = -1; allowed: an int >= 0"),
        (torch.full((3, 2), 0.5), 1.0, TypeError, "f = 1.0 is a float; allowed: an int >= 0"),
        (torch.full((3, 2), 0.5), None, TypeError, "f = None is a NoneType; allowed: an int >= 0"),
    ],
)
def test_bad_reports_or_f_are_refused(objective, rows, f, error, words):
    with pytest.raises((error, TypeError), match=words):
        objective(rows, f)


@pytest.mark.parametrize("rule", [None, "median", 3, GeometricMedian])
def test_a_rule_that_is_no_value_is_refused(rule):
    with pytest.raises(TypeError, match="rule must be"):
        Shared(rule)


@pytest.mark.parametrize("noise", ["laplace", LaplaceMechanism])
def test_a_noise_that_is_no_value_is_refused(noise):
    with pytest.raises(TypeError, match="noise must be a value"):
        Shared(noise=noise)


@pytest.mark.parametrize("seed", range(5))
def test_the_default_is_the_geometric_median_of_the_paper(seed):
    rows = reports(17, 10, 0.3, seed)
    rows = torch.cat([rows[:11], RarestClass()(rows[:11], 6)])
    expected = paper_estimate(rows.numpy())
    np.testing.assert_allclose(Shared()(rows, 6).numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", RULES)
@settings(deadline=None, max_examples=5)
@given(st.data())
def test_every_estimate_is_a_distribution_under_every_attack(name, data):
    classes = data.draw(st.integers(1, 12))
    alpha = data.draw(st.sampled_from([0.01, 0.3, 3.0]))
    attack = data.draw(st.sampled_from(ATTACKS))
    honest = reports(9, classes, alpha, data.draw(st.integers(0, 1000)))
    objective = Shared(RULES[name])
    lies = attack(honest, 2, objective=objective, generator=seeded(0))
    estimate = objective(torch.cat([honest, lies]), 2, generator=seeded(0))
    assert estimate.shape == (classes,)
    assert estimate.dtype == torch.float64
    assert is_distribution(estimate)


@pytest.mark.parametrize("name", RULES)
def test_workers_that_agree_are_believed(name):
    q = torch.tensor([0.5, 0.3, 0.2, 0.0], dtype=torch.float64)
    estimate = Shared(RULES[name])(q.repeat(11, 1), 2, generator=seeded(0))
    torch.testing.assert_close(estimate, q, atol=1e-7, rtol=0)


def test_the_result_of_a_coordinate_wise_rule_is_rescaled():
    rows = [[0.6, 0.2, 0.2], [0.5, 0.5, 0.0], [0.1, 0.3, 0.6]]
    estimate = Shared(CoordinateMedian())(rows, 1)
    torch.testing.assert_close(estimate, torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64))


def test_where_no_class_has_a_majority_the_median_is_uniform():
    estimate = Shared(CoordinateMedian())(torch.eye(5), 1)
    assert estimate.tolist() == [0.2] * 5


BAD_ROWS = {
    "nan": [math.nan, 0.5, 0.5],
    "infinite": [math.inf, 0.0, 0.0],
    "negative": [-0.5, 1.0, 0.5],
    "too heavy": [1.0, 1.0, 1.0],
    "too light": [0.0, 0.0, 0.0],
}


@pytest.mark.parametrize("bad", BAD_ROWS)
@pytest.mark.parametrize("rule", ["geometric median", "trimmed mean", "NNM then geometric median"])
def test_a_report_that_is_no_distribution_is_dropped_and_lowers_f(bad, rule):
    honest = reports(9, 3, 1.0, 0)
    lie = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)
    broken = torch.tensor([BAD_ROWS[bad]], dtype=torch.float64)
    objective = Shared(RULES[rule])
    with_broken = objective(torch.cat([broken, honest, broken, lie]), 3)
    assert torch.equal(with_broken, objective(torch.cat([honest, lie]), 1))


def test_more_broken_reports_than_f_leave_f_at_zero():
    honest = reports(3, 3, 1.0, 0)
    broken = torch.full((2, 3), math.nan, dtype=torch.float64)
    objective = Shared(Mean())
    torch.testing.assert_close(objective(torch.cat([honest, broken]), 1), honest.mean(0))


def test_too_few_valid_reports_are_refused():
    with pytest.raises(ValueError, match="n = 4 with f = 2, 0 were dropped, which leaves 4"):
        Shared()(reports(4, 3, 1.0, 0), 2)
    with pytest.raises(ValueError, match="3 were dropped, which leaves 0 with f = 0"):
        Shared()(torch.full((3, 2), math.nan), 1)


def test_float32_reports_of_many_classes_are_valid():
    rows = reports(5, 1000, 0.3, 0).float()
    assert is_distribution(Shared()(rows, 2))


def test_reports_are_left_as_they_were():
    rows = reports(5, 3, 1.0, 0)
    rows[0, 0] = math.nan
    before = rows.clone()
    Shared()(rows, 1)
    torch.testing.assert_close(rows, before, equal_nan=True, rtol=0, atol=0)


def test_without_noise_a_worker_reports_its_distribution():
    assert Shared().report([1, 3]).tolist() == [0.25, 0.75]


@pytest.mark.parametrize("noise", [LaplaceMechanism(0.5), GaussianMechanism(0.5, 1e-5)])
def test_with_noise_a_worker_reports_what_the_mechanism_gives(noise):
    counts = torch.tensor([10, 30, 0])
    expected = noise(label_distribution(counts), 40, generator=seeded(3))
    assert torch.equal(Shared(noise=noise).report(counts, generator=seeded(3)), expected)
    assert not torch.equal(expected, label_distribution(counts))


def test_reports_with_noise_still_give_a_useful_estimate():
    objective = Shared(noise=LaplaceMechanism(1.0))
    generator = seeded(4)
    rows = torch.stack([objective.report([300, 500, 200], generator=generator) for _ in range(9)])
    assert total_variation(objective(rows, 2), [0.3, 0.5, 0.2]) < 0.01


def test_bad_counts_cannot_be_reported():
    with pytest.raises(ValueError, match="counts must be non-negative"):
        Shared().report([1, -1])


def digits_distributions(seed: int, h: int = 11, alpha: float = 0.3) -> torch.Tensor:
    """Label distributions of h workers with digits drawn in Dirichlet shares of the classes."""
    labels = load_digits().target
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(h):
        share = rng.dirichlet(np.full(10, alpha))[labels] / np.bincount(labels)[labels]
        drawn = rng.choice(labels, len(labels) // h, p=share / share.sum())
        rows.append(label_distribution(label_counts(drawn, 10)))
    return torch.stack(rows)


def error_under_attack(objective: Shared, attack, draws: int = 20) -> float:
    """Mean total-variation error of q over draws of 17 workers, 6 of them Byzantine."""
    errors = []
    for seed in range(draws):
        honest = digits_distributions(seed)
        lies = attack(honest, 6, objective=objective)
        errors.append(total_variation(objective(torch.cat([honest, lies]), 6), honest.mean(0)))
    return float(np.mean(errors))


def test_nearest_neighbour_mixing_keeps_the_estimate_close_under_the_attack_of_the_paper():
    plain = error_under_attack(Shared(), RarestClass())
    mixed = error_under_attack(Shared(NNM() | GeometricMedian()), RarestClass())
    assert plain == pytest.approx(0.26, abs=0.03)
    assert mixed < 0.05


def test_nearest_neighbour_mixing_is_no_shield_against_a_report_searched_for_against_it():
    attack = WorstDistribution(rounds=2)
    mixed = error_under_attack(Shared(NNM() | GeometricMedian()), attack, draws=3)
    assert mixed > error_under_attack(Shared(), RarestClass(), draws=3)
