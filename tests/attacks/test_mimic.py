"""Mimic."""

import random

import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests import reference_attacks as reference
from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.aggregation.source import Matrix
from wola.aggregation.space import Space
from wola.attacks import Mimic, most_surrounded_outlier


def chosen(honest, f):
    return most_surrounded_outlier(Space(Matrix(honest)), f)


@settings(max_examples=60, deadline=None)
@given(settings_drawn)
def test_mimic_copies_the_worker_that_the_paper_chooses(drawn):
    h, f, d, seed = drawn
    assume(h > 2)  # Two updates are equally far from their mean: a tie, which has its own test.
    honest = honest_updates(h, d, seed)
    expected = reference.most_surrounded_outlier(as_float64(honest), f)
    assert chosen(honest, f) == expected
    assert torch.equal(Mimic()(honest, f), honest[expected].expand(f, -1))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=3, max_size=7))
@example([[-2, 0], [-2, 0], [-2, -2], [-2, 1], [-2, -1]])  # 7 x 1.6 = 8 x 1.4
def test_ties_are_broken_as_the_definition_breaks_them(points):
    honest = torch.tensor(points, dtype=torch.float64)
    f = (len(points) - 1) // 2
    assert chosen(honest, f) == reference.most_surrounded_outlier(as_float64(honest), f)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=3, max_size=7),
    st.randoms(use_true_random=False),
)
@example([[0, 1], [1, 0], [0, -1], [-1, 0]], random.Random(1))
def test_the_order_of_the_workers_decides_nothing_ties_included(points, rng):
    f = (len(points) - 1) // 2
    sent = Mimic()(torch.tensor(points, dtype=torch.float64), f)
    other = Mimic()(torch.tensor(rng.sample(points, len(points)), dtype=torch.float64), f)
    assert torch.equal(sent, other)


def test_of_equally_far_corners_the_lexicographically_smallest_is_sent():
    for order in ([0, 1, 2, 3, 4, 5], [3, 5, 0, 1, 4, 2]):
        honest = torch.eye(6, dtype=torch.float64)[order]
        assert Mimic()(honest, 2)[0].tolist() == [0, 0, 0, 0, 0, 1]
        assert chosen(honest, 2) == reference.most_surrounded_outlier(honest.numpy(), 2)


def test_the_choice_survives_a_huge_common_part():
    honest = honest_updates(8, 30) * 1e-2
    assert chosen(honest + 1e6, 3) == reference.most_surrounded_outlier(as_float64(honest), 3)


def test_identical_updates_are_mimicked_by_the_first():
    assert chosen(torch.ones(4, 3), 1) == 0


@settings(max_examples=20, deadline=None)
@given(settings_drawn, st.sampled_from([-4.0, 0.5, 8.0]), st.sampled_from([0.0, 2.0, -16.0]))
def test_the_choice_does_not_depend_on_origin_or_scale(drawn, scale, shift):
    h, f, d, seed = drawn
    assume(h > 2)  # Two updates are equally far from their mean, and a negative scale swaps them.
    honest = honest_updates(h, d, seed)
    assert chosen(honest * scale + shift, f) == chosen(honest, f)


def test_writing_into_the_rows_leaves_the_mimicked_worker_alone():
    honest = honest_updates(4, 3)
    before = honest.clone()
    Mimic()(honest, 1).zero_()
    assert torch.equal(honest, before)
