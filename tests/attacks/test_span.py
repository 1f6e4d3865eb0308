"""The honest span by coefficients, against vectors themselves."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.sample import as_float64, honest_updates, settings_drawn
from wola.aggregation.products import centred_products
from wola.attacks._span import Span, own_order, spanning_rows


def spanned(honest):
    rows = spanning_rows(honest)
    return as_float64(rows), Span(centred_products(rows), own_order(honest))


@settings(max_examples=40, deadline=None)
@given(settings_drawn, st.sampled_from([0.0, 1e3]))
def test_lengths_and_directions_are_those_of_the_vectors(drawn, shift):
    h, _, d, seed = drawn
    rows, span = spanned(honest_updates(h, d, seed) + shift)
    x = rows[:-1]
    mean, std = x.mean(0), x.std(0)
    np.testing.assert_allclose(span.mean @ rows, mean, rtol=1e-9)
    np.testing.assert_allclose(span.std @ rows, std, rtol=1e-6, atol=1e-9)
    deviations = np.array(span.deviations()) @ rows
    np.testing.assert_allclose(np.sort(deviations, 0), np.sort(x - mean, 0), atol=1e-9)
    lengths = np.linalg.norm(deviations, axis=1)
    assert (np.diff(lengths) <= 1e-6 * span.spread).all()
    assert span.spread == pytest.approx(np.sqrt(((x - mean) ** 2).sum(1).mean()), rel=1e-6)
    assert span.typical_length == pytest.approx(np.sqrt((x**2).sum(1).mean()), rel=1e-6)
    against = span.against_mean() @ rows
    np.testing.assert_allclose(against, -mean * span.spread / np.linalg.norm(mean), rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(settings_drawn.filter(lambda drawn: drawn[2] > 2), st.floats(1, 179))
def test_a_tilt_has_its_angle_to_the_mean_and_the_length_of_an_honest_update(drawn, angle):
    h, _, d, seed = drawn
    rows, span = spanned(honest_updates(h, d, seed))
    mean, towards = rows[:-1].mean(0), span.deviations()[0]
    deviation = towards @ rows
    found = span.tilted(towards, angle) @ rows
    along = mean / np.linalg.norm(mean)
    across = deviation - (deviation @ along) * along
    across /= np.linalg.norm(across)
    turn = np.deg2rad(angle)
    expected = span.typical_length * (np.cos(turn) * along + np.sin(turn) * across)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_what_has_no_direction_of_its_own_has_no_tilt():
    _, along = spanned(torch.tensor([[1.0, 1.0], [3.0, 3.0]], dtype=torch.float64))
    assert along.tilted(along.deviations()[0], 60.0) is None
    _, alike = spanned(torch.ones(3, 4))
    assert alike.tilted(alike.deviations()[0], 60.0) is None
    assert alike.spread == 0.0
    np.testing.assert_array_equal(alike.against_mean(), -alike.mean)
    _, nothing = spanned(torch.zeros(3, 4))
    assert nothing.drawn(1.0, np.random.default_rng(1)) is None
    np.testing.assert_array_equal(nothing.against_mean(), -nothing.mean)


@pytest.mark.parametrize("scale", [1e-40, 1.0, 1e30])
def test_random_vectors_have_their_length_and_differ(scale):
    _, span = spanned(honest_updates(5, 8) * scale)
    draw = np.random.default_rng(1)
    first, second = (span.drawn(2.0 * scale, draw) for _ in range(2))
    assert span.length(first) == pytest.approx(2.0 * scale)
    assert span.length(second) == pytest.approx(2.0 * scale)
    assert span.length(first - second) > 0.1 * scale


@pytest.mark.parametrize("tied", [0, 3, 5000])
def test_what_is_drawn_does_not_depend_on_the_order_of_the_workers(tied):
    honest = honest_updates(6, tied + 4)
    honest[:, :tied] = 1.0
    honest[4] = honest[2]
    order = own_order(honest)
    assert honest[order, tied].tolist() == sorted(honest[:, tied].tolist())
    rows, span = spanned(honest)
    expected = span.drawn(1.0, np.random.default_rng(1)) @ rows
    for places in ([5, 4, 3, 2, 1, 0], [2, 0, 1, 5, 3, 4]):
        again, other = spanned(honest[places])
        assert torch.equal(honest[places][own_order(honest[places])], honest[order])
        np.testing.assert_allclose(other.drawn(1.0, np.random.default_rng(1)) @ again, expected)


def test_mean_and_deviation_stand_below_the_updates():
    honest = honest_updates(6, 9, dtype=torch.float32)
    rows = spanning_rows(honest)
    assert torch.equal(rows[:-1], honest)
    torch.testing.assert_close(rows[-1], honest.mean(0) + honest.std(0, correction=0))
