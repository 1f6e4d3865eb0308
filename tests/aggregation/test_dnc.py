"""Divide and conquer."""

import numpy as np
import pytest
import torch

from tests import reference_newer_rules
from tests.rules import drawn_columns, generator, updates
from wola.aggregation import DnC
from wola.aggregation.dnc import outlier_scores
from wola.aggregation.source import Matrix
from wola.aggregation.space import Space


def planted(n, d, liars, seed=0):
    """Honest noise, and liars far out along one direction."""
    x = updates(n, d, seed=seed)
    x[:liars] += 20 * np.sign(np.random.default_rng(seed).standard_normal(d))
    return x


@pytest.mark.parametrize("seed", range(5))
def test_with_all_columns_it_removes_f_by_the_top_singular_vector(seed):
    x = updates(9, 12, seed=seed)
    left, singular, _ = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    kept = np.argsort((left[:, 0] * singular[0]) ** 2)[: 9 - 3]
    for rule in (DnC(columns=None), DnC(columns=12), DnC(iterations=4, columns=500)):
        np.testing.assert_allclose(rule(x, 3), x[kept].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("iterations", [1, 5])
def test_liars_planted_along_one_direction_get_no_weight(iterations):
    for seed in range(5):
        weights = DnC(iterations, columns=30).weights(planted(17, 300, 4, seed), 4, generator())
        np.testing.assert_allclose(weights[:4], 0)
        assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("c", [0.5, 1.0, 1.6])
@pytest.mark.parametrize("iterations", [1, 3])
def test_the_mean_is_of_those_that_are_good_in_every_sample(c, iterations):
    x = planted(13, 200, 3)
    samples = drawn_columns(40, iterations)(x)
    expected = reference_newer_rules.dnc(x, 3, samples, c)
    np.testing.assert_allclose(DnC(iterations, 40, c)(x, 3, generator()), expected, atol=1e-12)


def test_votes_decide_where_none_is_good_in_every_sample():
    empty = 0
    for seed in range(40):
        x = updates(9, 400, seed=seed)
        samples = drawn_columns(3, 5)(x)
        good = [np.argsort(reference_newer_rules.outlier_scores(x[:, s]))[:5] for s in samples]
        votes = np.bincount(np.concatenate(good), minlength=9)
        empty += votes.max() < 5
        chosen = votes == votes.max()
        weights = DnC(5, 3).weights(x, 4, generator())
        np.testing.assert_allclose(weights, chosen / chosen.sum(), atol=1e-12)
    assert empty >= 5


def test_the_draw_does_not_depend_on_the_order_of_the_workers_nor_on_the_blocks():
    x = torch.from_numpy(planted(11, 500, 3))
    rule = DnC(iterations=2, columns=20)
    expected = rule(x, 3, generator())
    order = torch.randperm(11, generator=generator())
    torch.testing.assert_close(rule(x[order], 3, generator()), expected, rtol=0, atol=1e-12)
    blocks = list(torch.split(x, 37, dim=1))
    torch.testing.assert_close(rule.blocks(blocks, 3, generator()), expected, rtol=0, atol=1e-12)


def test_another_draw_sees_other_columns():
    x = updates(11, 500)
    results = {
        DnC(columns=5)(x, 5, torch.Generator().manual_seed(seed)).tobytes() for seed in range(8)
    }
    assert len(results) > 1


def test_without_a_generator_it_works_only_where_nothing_is_drawn():
    x = updates(7, 20)
    with pytest.raises(ValueError, match="draws columns and generator is None; allowed"):
        DnC(columns=5)(x, 2)
    assert np.isfinite(DnC(columns=20)(x, 2)).all()
    np.testing.assert_allclose(DnC(columns=5)(x, 0), x.mean(axis=0))


def test_equal_updates_share_the_places_at_the_edge():
    x = np.array([[0.0], [0.0], [4.0], [4.0], [4.0], [40.0]])
    # The mean is 26/3: 40 goes, and of the two zeros, the next farthest, one place is left.
    np.testing.assert_allclose(DnC().weights(x, 2), [0.125, 0.125, 0.25, 0.25, 0.25, 0])


def test_more_than_all_cannot_be_removed():
    assert DnC(c=3.0).max_byzantine(11) == 3
    with pytest.raises(ValueError, match="n = 11 workers allows f <= 3, not f = 4"):
        DnC(c=3.0)(updates(11, 4), 4)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("iterations", 0),
        ("iterations", 1.5),
        ("columns", 0),
        ("columns", "all"),
        ("c", 0),
        ("c", -1),
    ],
)
def test_bad_parameters_are_refused(name, value):
    with pytest.raises((ValueError, TypeError), match=f"{name} = "):
        DnC(**{name: value})


def test_scores_are_squared_lengths_along_the_top_singular_vector():
    x = updates(9, 30)
    scores, errors = outlier_scores(Space(Matrix(torch.from_numpy(x))))
    np.testing.assert_allclose(scores, reference_newer_rules.outlier_scores(x), rtol=1e-9)
    assert (errors < 1e-9 * scores.max()).all()
