import numpy as np
import pytest
import torch

from tests.attacks.sample import generator, honest_updates
from wola.aggregation import (
    Bulyan,
    CenteredClipping,
    ComparativeGradientElimination,
    CoordinateMedian,
    FLTrust,
    GeometricMedian,
    Krum,
    MeaMed,
    Mean,
    MultiKrum,
    ReferenceRows,
    TrimmedMean,
    View,
)
from wola.attacks._judge import Judge, inner, squared_length, trailing_copies
from wola.attacks.attack import look
from wola.ground.generators import copied
from wola.mixing import ARC, NNM, Bucketing, Clipping, FoundationFL

RULES = [
    Mean(),
    CoordinateMedian(),
    TrimmedMean(),
    MeaMed(),
    GeometricMedian(),
    Krum(),
    MultiKrum(),
    ComparativeGradientElimination(),
    CenteredClipping(),
    Bulyan(),
    NNM() | TrimmedMean(),
    NNM() | Krum(),
    NNM() | GeometricMedian(),
    Bucketing(size=2) | CoordinateMedian(),
    Bucketing(size=2) | NNM() | GeometricMedian(),
    Clipping(1.5) | TrimmedMean(),
    Clipping(1.5) | MultiKrum(),
    ARC() | Mean(),
    FoundationFL() | TrimmedMean(),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_the_distance_in_gram_space_is_that_of_the_rule_itself(rule, shift):
    honest = honest_updates(9, 30) + shift
    base = torch.cat([honest, honest_updates(1, 30, seed=5) + shift])
    judge = Judge(base, 9, 2, rule, 2, generator(3), torch.finfo(torch.float64).max)
    for candidate in (np.full(10, 0.1), np.append(np.zeros(9), 2.0), np.linspace(-1, 1, 10)):
        row = torch.from_numpy(candidate) @ base
        aggregate = rule(torch.cat([honest, row.expand(2, -1)]), 2, generator(3))
        expected = float((aggregate - honest.mean(0)).square().sum())
        assert judge.moved(candidate) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_what_the_server_knows_of_workers_that_it_drops_is_left_out():
    honest = honest_updates(4, 3)
    honest[1] = float("nan")
    labels = torch.arange(12).reshape(6, 2)
    view = View(ReferenceRows(mean=honest[0]), labels, workers=("a", "b", "c", "d", "e", "f"))
    kept = FLTrust().at(view).among(look(honest, 2).rows)
    assert kept.view.workers == ("a", "c", "d", "e", "f")
    assert torch.equal(kept.view.labels, labels[[0, 2, 3, 4, 5]])


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_ascent_in_gram_space_is_that_of_the_rule_itself(rule):
    honest = honest_updates(9, 30)
    judge = Judge(honest, 9, 2, rule, 2, generator(3), torch.finfo(torch.float64).max)
    mean = honest.mean(0)
    for candidate in (np.full(9, 0.1), np.linspace(-1, 1, 9)):
        row = torch.from_numpy(candidate) @ honest
        aggregate = rule(torch.cat([honest, row.expand(2, -1)]), 2, generator(3))
        expected = float((mean - aggregate) @ mean)
        found = judge.harm(judge.solved(candidate), "ascent", judge.all_columns)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("rule", [TrimmedMean(), MeaMed(), NNM() | CoordinateMedian()], ids=str)
def test_on_some_columns_a_column_rule_is_judged_by_these_alone(rule):
    honest, chosen = honest_updates(9, 30), np.array([0, 3, 4, 17, 29])
    judge = Judge(honest, 9, 2, rule, 2, None, 1e300)
    candidate, mean = np.full(9, -0.3), honest.mean(0)[chosen]
    row = torch.from_numpy(candidate) @ honest
    aggregate = rule(torch.cat([honest, row.expand(2, -1)]), 2)[chosen]
    solution, columns = judge.solved(candidate), judge.some_columns(chosen)
    distance = float((aggregate - mean).square().sum())
    assert judge.harm(solution, "distance", columns) == pytest.approx(distance, rel=1e-9)
    ascent = float((mean - aggregate) @ mean)
    assert judge.harm(solution, "ascent", columns) == pytest.approx(ascent, rel=1e-9)


def test_a_rule_with_weights_is_judged_on_all_columns_whatever_is_given():
    honest = honest_updates(9, 30)
    judge = Judge(honest, 9, 2, Krum(), 2, None, 1e300)
    solution = judge.solved(np.full(9, -0.3))
    few, every = judge.some_columns(np.array([2])), judge.all_columns
    assert judge.harm(solution, "distance", few) == judge.harm(solution, "distance", every)


def test_a_server_row_is_seen_at_the_scale_of_the_base():
    honest, server = honest_updates(5, 8), honest_updates(1, 8, seed=3)
    rule = FLTrust().at(View(ReferenceRows(mean=server)))
    scaled = FLTrust().at(View(ReferenceRows(mean=server * 2.0**300)))
    plain, judge = (
        Judge(honest, 5, 2, one, 2, None, 1e300, exponent)
        for one, exponent in ((rule, 0), (scaled, 300))
    )
    assert judge.moved(np.full(5, -0.3)) == plain.moved(np.full(5, -0.3)) > 0


def test_a_candidate_that_overflows_is_refused():
    base = torch.ones(4, 3)
    judge = Judge(base, 4, 1, Mean(), 1, None, torch.finfo(torch.float32).max)
    assert judge.moved(np.full(4, 1e38)) == -np.inf
    assert judge.moved(np.full(4, np.inf)) == -np.inf
    assert judge.moved(np.full(4, 1e30)) > 0


def test_chunks_of_columns_add_up(monkeypatch):
    honest = honest_updates(5, 1000)
    rule = NNM() | TrimmedMean()
    whole = Judge(honest, 5, 2, rule, 2, None, 1e300).moved(np.full(5, -0.3))
    monkeypatch.setattr("wola.aggregation.columns.CHUNK", 300)
    parts = Judge(honest, 5, 2, rule, 2, None, 1e300).moved(np.full(5, -0.3))
    assert parts == pytest.approx(whole, rel=1e-12)


def test_the_length_of_a_combination_follows_from_the_products():
    centred, centre = honest_updates(4, 6).numpy(), honest_updates(1, 6, seed=9).numpy()
    rows = np.vstack([centred, centre])
    coefficients = np.array([0.5, -2.0, 1.0, 3.0])
    expected = np.sum((coefficients @ (centred + centre)) ** 2)
    assert squared_length(rows @ rows.T, coefficients) == pytest.approx(expected)


def test_an_inner_product_of_combinations_follows_from_the_products():
    centred, centre = honest_updates(4, 6).numpy(), honest_updates(1, 6, seed=9).numpy()
    rows = np.vstack([centred, centre])
    a, b = np.array([0.5, -2.0, 1.0, 3.0]), np.array([1.0, 0.0, -4.0, 2.0])
    expected = (a @ (centred + centre)) @ (b @ (centred + centre))
    assert inner(rows @ rows.T, a, b) == pytest.approx(expected)


def test_rows_alike_at_the_end_are_counted():
    assert trailing_copies(np.array([[1.0], [2.0], [2.0]])) == 2
    assert trailing_copies(np.array([[2.0], [1.0], [2.0]])) == 1
    assert trailing_copies(np.ones((3, 2))) == 3


def test_a_copied_generator_leaves_the_original_where_it_was():
    assert copied(None) is None
    original = generator(1)
    state = original.get_state()
    drawn = torch.randn(3, generator=copied(original))
    assert torch.equal(original.get_state(), state)
    assert torch.equal(torch.randn(3, generator=original), drawn)
