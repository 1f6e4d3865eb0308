"""Attacks on the training objective."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.aggregation import CoordinateMedian, GeometricMedian, Mean
from wola.labels import (
    OutlierDistribution,
    Prior,
    RarestClass,
    Shared,
    Uniform,
    WorstDistribution,
)
from wola.labels.simplex import is_distribution
from wola.mixing import NNM, Bucketing

ATTACKS = [RarestClass(), OutlierDistribution(), WorstDistribution(beam=3, rounds=2)]


def distributions(h: int, classes: int, seed: int, alpha: float = 0.3) -> torch.Tensor:
    return torch.tensor(np.random.default_rng(seed).dirichlet(np.full(classes, alpha), size=h))


def shift(honest: torch.Tensor, lies: torch.Tensor, objective) -> float:
    """How far the lies move the estimate from the honest mean, in L1."""
    estimate = objective(torch.cat([honest, lies]), len(lies))
    return float((estimate - honest.mean(0)).abs().sum())


class Counted:
    """An objective that counts how often it is asked."""

    needs_reports = True

    def __init__(self, objective):
        self.objective = objective
        self.calls = 0

    def __call__(self, reports, f, *, generator=None):
        self.calls += 1
        return self.objective(reports, f, generator=generator)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 9), st.integers(1, 8), st.integers(0, 999))
def test_the_rarest_class_takes_all_mass(h, classes, seed):
    honest = distributions(h, classes, seed, alpha=1.0)
    lies = RarestClass()(honest, 2)
    assert lies.shape == (2, classes)
    rarest = int(np.argmin(honest.numpy().mean(0)))
    assert lies.tolist() == [np.eye(classes)[rarest].tolist()] * 2


def test_ties_of_the_rarest_class_go_to_the_lowest_index():
    honest = torch.tensor([[0.5, 0.0, 0.5, 0.0]])
    assert RarestClass()(honest, 1).tolist() == [[0.0, 1.0, 0.0, 0.0]]


@pytest.mark.parametrize("seed", range(5))
def test_no_report_moves_the_plain_mean_farther_than_the_rarest_class(seed):
    honest = distributions(11, 6, seed)
    mean = Shared(Mean())
    lies = RarestClass()(honest, 4)
    expected = 4 / 15 * (2 - 2 * float(honest.mean(0).min()))
    assert shift(honest, lies, mean) == pytest.approx(expected)
    worst = WorstDistribution()(honest, 4, objective=mean)
    assert shift(honest, worst, mean) == pytest.approx(expected)


def test_the_outlier_is_the_honest_report_farthest_from_the_mean():
    honest = distributions(9, 5, 1)
    rows = honest.numpy()
    farthest = max(range(9), key=lambda i: np.abs(rows[i] - rows.mean(0)).sum())
    lies = OutlierDistribution()(honest, 3)
    assert torch.equal(lies, honest[farthest].repeat(3, 1))


def test_ties_of_the_outlier_go_to_the_lowest_worker():
    assert OutlierDistribution()(torch.eye(3), 1).tolist() == [[1.0, 0.0, 0.0]]


SERVERS = {
    "paper": Shared(),
    "median": Shared(CoordinateMedian()),
    "mixed": Shared(NNM() | GeometricMedian()),
}


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("seed", range(2))
def test_the_search_never_does_worse_than_the_other_attacks(server, seed):
    honest, objective = distributions(11, 10, seed), SERVERS[server]
    worst = shift(honest, WorstDistribution()(honest, 6, objective=objective), objective)
    for attack in (RarestClass(), OutlierDistribution()):
        assert worst >= shift(honest, attack(honest, 6), objective) - 1e-12


def test_the_search_finds_more_than_the_rarest_class_against_mixing():
    objective = SERVERS["mixed"]
    found, known = [], []
    for seed in range(3):
        honest = distributions(11, 10, seed)
        lies = WorstDistribution(rounds=3)(honest, 6, objective=objective)
        found.append(shift(honest, lies, objective))
        known.append(shift(honest, RarestClass()(honest, 6), objective))
    assert np.mean(found) > 1.5 * np.mean(known)


def test_the_search_comes_close_to_a_dense_grid_of_three_classes():
    honest, objective = distributions(7, 3, 5, alpha=1.0), Shared()
    grid = [(i, j, 20 - i - j) for i in range(21) for j in range(21 - i)]
    best = max(
        shift(honest, torch.tensor([point], dtype=torch.float64).repeat(3, 1) / 20, objective)
        for point in grid
    )
    lies = WorstDistribution()(honest, 3, objective=objective)
    assert shift(honest, lies, objective) >= 0.99 * best


@pytest.mark.parametrize(("h", "classes"), [(1, 1), (3, 2), (11, 10)])
@pytest.mark.parametrize(("beam", "rounds"), [(0, 0), (6, 8), (40, 1)])
def test_the_number_of_evaluations_is_bounded_as_stated(h, classes, beam, rounds):
    attack = WorstDistribution(beam=beam, rounds=rounds)
    counted = Counted(Shared(Mean()))
    attack(distributions(h, classes, 0), 1 if h > 1 else 0, objective=counted)
    assert counted.calls <= attack.evaluations(h, classes)
    assert counted.calls > 0 or h == 1


def test_the_search_is_deterministic_and_leaves_the_generator_alone():
    honest = distributions(11, 6, 2)
    objective = Shared(Bucketing(2) | CoordinateMedian())
    generator = torch.Generator().manual_seed(3)
    before = generator.get_state()
    attack = WorstDistribution(beam=3, rounds=2)
    first = attack(honest, 2, objective=objective, generator=generator)
    assert torch.equal(generator.get_state(), before)
    assert torch.equal(first, attack(honest, 2, objective=objective, generator=generator))


@pytest.mark.parametrize("objective", [Prior([0.5, 0.5]), Uniform()])
def test_an_objective_deaf_to_reports_is_attacked_in_vain_but_validly(objective):
    lies = WorstDistribution()(torch.tensor([[0.5, 0.5], [0.2, 0.8]]), 1, objective=objective)
    assert is_distribution(lies).all()


@pytest.mark.parametrize("attack", ATTACKS)
def test_reports_are_distributions_and_the_honest_ones_stay_untouched(attack):
    honest = distributions(9, 5, 4)
    before = honest.clone()
    lies = attack(honest, 3)
    assert lies.shape == (3, 5)
    assert lies.dtype == torch.float64
    assert is_distribution(lies).all()
    lies[:] = 7.0
    assert torch.equal(honest, before)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nobody_reports_nothing(attack):
    assert attack(distributions(4, 3, 0), 0).shape == (0, 3)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(
    ("honest", "f", "error", "words"),
    [
        (torch.ones(0, 2), 1, ValueError, "honest must have at least one row and one class"),
        (torch.ones(2), 1, ValueError, "honest must have 2 dimensions"),
        (torch.ones(2, 2), 1, ValueError, "honest must have distributions as rows"),
        (torch.full((2, 2), float("nan")), 1, ValueError, "honest must have distributions"),
        (torch.full((2, 2), 0.5), -1, ValueError, "f = -1; allowed: an int >= 0"),
        (torch.full((2, 2), 0.5), 1.5, TypeError, "f = 1.5 is a float; allowed: an int >= 0"),
    ],
)
def test_bad_input_is_refused(attack, honest, f, error, words):
    with pytest.raises(error, match=words):
        attack(honest, f)


@pytest.mark.parametrize(
    ("settings_", "error", "words"),
    [
        ({"beam": -1}, ValueError, "beam = -1; allowed: an int >= 0"),
        ({"rounds": 1.5}, TypeError, "rounds = 1.5 is a float"),
        ({"rounds": True}, TypeError, "rounds = True is a bool"),
    ],
)
def test_bad_settings_of_the_search_are_refused(settings_, error, words):
    with pytest.raises(error, match=words):
        WorstDistribution(**settings_)
