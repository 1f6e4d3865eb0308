"""Nearest-neighbour mixing by angle."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.rules import updates
from wola.mixing import NNM, AngleNNM


def same_direction_first(x, f):
    """Weights from exact whole-number comparisons of cosines: sign and square as fractions."""
    from fractions import Fraction

    rows = [[Fraction(int(v)) for v in row] for row in x]
    n = len(rows)
    dot = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in rows] for r in rows]

    def rank(i, j):
        if not dot[i][i] or not dot[j][j]:
            return Fraction(0)
        signed = dot[i][j] * abs(dot[i][j])
        return -signed / (dot[i][i] * dot[j][j])

    matrix = []
    for i in range(n):
        far = [rank(i, j) for j in range(n)]
        edge = sorted(far)[n - f - 1]
        below = [value < edge for value in far]
        tied = [value == edge for value in far]
        share = Fraction(n - f - sum(below), sum(tied) * (n - f))
        matrix.append(
            [
                Fraction(1, n - f) if b else share if t else 0
                for b, t in zip(below, tied, strict=True)
            ]
        )
    return np.array(matrix, dtype=np.float64)


@settings(max_examples=80, derandomize=True)
@given(data=st.data(), dtype=st.sampled_from([np.float32, np.float64]))
def test_ties_at_the_edge_share_as_exact_arithmetic_has_it(data, dtype):
    n, d = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 3))
    x = data.draw(arrays(np.float64, (n, d), elements=st.integers(-2, 2).map(float)))
    f = data.draw(st.integers(0, (n - 1) // 2))
    np.testing.assert_allclose(
        AngleNNM().matrix(x.astype(dtype), f), same_direction_first(x, f), atol=1e-7
    )


def test_the_length_of_an_update_decides_nothing():
    x = updates(9, 20)
    lengths = np.random.default_rng(2).uniform(0.1, 10, size=(9, 1))
    np.testing.assert_allclose(AngleNNM().matrix(x, 3), AngleNNM().matrix(lengths * x, 3))


def test_a_short_lie_against_noisy_honest_updates_is_nobodys_neighbour():
    generator = np.random.default_rng(1)
    mean = np.zeros(400)
    mean[0] = 1.0
    honest = mean + generator.normal(size=(9, 400)) * 0.1
    x = np.vstack([honest, np.tile(-0.1 * mean, (4, 1))])
    assert (NNM().matrix(x, 4)[:9, 9:] > 0).any()
    assert not AngleNNM().matrix(x, 4)[:9, 9:].any()


def test_a_zero_update_has_no_direction_and_becomes_the_mean_of_all():
    x = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    assert AngleNNM()(x, 1)[0].tolist() == pytest.approx([1 / 3, 1.0])


def test_liars_can_shorten_the_step_whatever_the_variance_but_not_turn_it():
    n, f, d = 17, 8, 50
    generator = np.random.default_rng(4)
    mean = generator.normal(size=d)
    honest = mean + 1e-6 * generator.normal(size=(n - f, d))
    mixed = AngleNNM()(np.vstack([honest, np.tile(0.01 * mean, (f, 1))]), f)
    np.testing.assert_allclose(
        mixed[: n - f], np.tile((1 + f * 0.01) / 9 * mean, (9, 1)), atol=1e-5
    )
