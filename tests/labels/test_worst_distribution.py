"""The report found to be worst."""

import numpy as np
import pytest
import torch

from tests.labels.dishonest import distributions, shift
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

SERVERS = {
    "paper": Shared(),
    "median": Shared(CoordinateMedian()),
    "mixed": Shared(NNM() | GeometricMedian()),
}


class Counted:
    """An objective that counts how often it is asked."""

    needs_reports = True

    def __init__(self, objective):
        self.objective = objective
        self.calls = 0

    def __call__(self, reports, f, *, generator=None):
        self.calls += 1
        return self.objective(reports, f, generator=generator)


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
