"""What is measured is what its definition says."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.labels import gradient_dissimilarity
from wola.training.metrics import PHASES, Stopwatch, cosine, spread


@given(
    h=st.integers(1, 12),
    d=st.sampled_from([1, 5, 8191, 8192, 20000]),
    shift=st.sampled_from([0.0, 3.0]),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_spread_is_the_mean_and_the_gradient_dissimilarity(h, d, shift, seed):
    rows = torch.randn(h, d, generator=torch.Generator().manual_seed(seed)) + shift
    mean, dissimilarity = spread(rows)
    torch.testing.assert_close(mean, rows.double().mean(0).float(), rtol=1e-5, atol=1e-6)
    assert dissimilarity == pytest.approx(gradient_dissimilarity(rows), rel=1e-4, abs=1e-9)


def test_a_row_that_is_not_finite_shows():
    rows = torch.tensor([[1.0, float("nan")], [2.0, 3.0]])
    assert spread(rows)[1] != spread(rows)[1]


def test_cosine_is_pytorchs_and_undefined_for_nothing():
    a, b = torch.randn(2, 50, generator=torch.Generator().manual_seed(1))
    assert cosine(a, b) == pytest.approx(float(torch.cosine_similarity(a, b, dim=0)), abs=1e-6)
    assert cosine(a, torch.zeros(50)) is None
    assert cosine(a, b / 0) is None


def test_the_stopwatch_adds_up_and_starts_anew():
    watch = Stopwatch()
    for _ in range(2):
        with watch("rule"):
            sum(range(1000))
    taken = watch.taken()
    assert set(taken) == set(PHASES)
    assert taken["rule"] > 0 == taken["attack"]
    assert watch.taken()["rule"] == 0
