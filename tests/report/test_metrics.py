"""The metrics and their columns."""

import pytest

from wola.bench.index import SCHEMA
from wola.report.metrics import METRICS, metric_named


def test_every_metric_is_a_number_that_stores_keep() -> None:
    for known in METRICS.values():
        assert SCHEMA[known.column].is_float()


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match=r"metric = 'acc'; allowed: accuracy, final-accuracy"):
        metric_named("acc")
