"""CAF."""

import numpy as np
import pytest

from tests import reference
from tests.rules import updates
from wola.aggregation import CAF


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_reference_when_liars_pull_in_one_direction(seed):
    x = updates(11, 6, seed=seed)
    x[:4] += 5.0
    np.testing.assert_allclose(CAF()(x, 4), reference.caf(x, 4), atol=1e-8)
    weighted = reference.caf(x, 4, all_set_the_pace=False)
    np.testing.assert_allclose(CAF(pace="weighted")(x, 4), weighted, atol=1e-8)
    assert np.abs(CAF()(x, 4) - weighted).max() > 1e-6


def test_directions_that_spread_equally_are_filtered_together():
    # Four corners of a square: any direction is a top eigenvector, and none may be preferred.
    x = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 3.0], [0.0, -3.0], [0.0, 0.0]])
    for pace in ("all", "weighted"):
        np.testing.assert_allclose(CAF(pace)(x, 2), [0.0, 0.0], atol=1e-12)


def test_a_liar_far_away_does_not_keep_it_running():
    x = updates(11, 6)
    x[0] = 1e9
    assert np.isfinite(CAF()(x, 3)).all()


def test_an_unknown_pace_is_refused():
    with pytest.raises(ValueError, match="pace = 'some'"):
        CAF(pace="some")


def test_liars_that_stand_out_get_no_weight():
    x = updates(11, 6)
    x[:2] += 1e4
    weights = CAF().weights(x, 2)
    assert weights[:2].max() < 1e-6
    assert weights.sum() == pytest.approx(1)


def test_without_byzantine_workers_it_is_the_mean():
    x = updates(6, 4)
    np.testing.assert_allclose(CAF()(x, 0), x.mean(axis=0), atol=1e-14)
