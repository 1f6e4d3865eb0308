import io
from base64 import b64decode
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.report.browser.store import metrics
from wola.ground.sealed import sealed
from wola.report.page.curves import SPANS, TESTS, run_curves, span_means
from wola.training import Scenario


def run_folder(folder: Path, content: bytes) -> Path:
    (folder / "metrics.parquet").write_bytes(content)
    summary = {"metrics_sha256": sha256(content).hexdigest()}
    (folder / "summary.json").write_bytes(sealed(summary))
    return folder


def parquet(**columns: object) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def test_a_short_run_is_shown_as_it_is(tmp_path: Path) -> None:
    scenario = Scenario.paper("iris", strategy="NNM", byzantine=2, aggregator="multi-krum")
    table = pl.read_parquet(io.BytesIO(metrics(scenario)))
    made = run_curves(run_folder(tmp_path, metrics(scenario)), 17)
    tested = table.drop_nulls("accuracy")
    assert made["accuracy"] == [tested["step"].to_list(), [round(a, 2) for a in tested["accuracy"]]]
    assert made["dissimilarity"][0] == table["step"].to_list()
    weights = made["weights"]
    codes = np.frombuffer(b64decode(weights["bytes"]), np.uint8).reshape(20, 17)
    shown = weights["low"] + codes / 254 * (weights["high"] - weights["low"])
    assert shown == pytest.approx(np.array(table["weights"].to_list()), abs=weights["high"] / 254)


def test_a_long_run_is_shown_in_spans(tmp_path: Path) -> None:
    steps = np.arange(1, 2001)
    content = parquet(step=steps, accuracy=steps / 20.0, dissimilarity_momenta=steps * 1.0)
    made = run_curves(run_folder(tmp_path, content), 17)
    assert len(made["accuracy"][0]) <= TESTS
    assert len(made["dissimilarity"][0]) <= SPANS
    assert made["dissimilarity"][0] == pytest.approx(made["dissimilarity"][1], rel=1e-3)


def test_spans_are_means_of_what_is_finite() -> None:
    values = np.random.default_rng(0).normal(size=(137, 3))
    values[::5, 1] = np.nan
    values[:40, 2] = np.inf
    made = span_means(values, 20)
    for place in range(len(made)):
        for column in range(3):
            span = values[place * 7 : place * 7 + 7, column]
            finite = span[np.isfinite(span)]
            if len(finite):
                assert made[place, column] == pytest.approx(finite.mean())
            else:
                assert np.isnan(made[place, column])


def test_steps_without_weights_are_marked(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"step": [1, 2, 3], "weights": [[0.5, 0.5], None, [1.0]]},
        schema_overrides={"weights": pl.List(pl.Float32)},
    )
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    made = run_curves(run_folder(tmp_path, buffer.getvalue()), 2)
    assert list(b64decode(made["weights"]["bytes"])) == [254, 254, 255, 255, 255, 255]


def test_what_is_not_finite_is_shown_as_missing(tmp_path: Path) -> None:
    content = parquet(step=[1, 2], accuracy=[None, 50.0], dissimilarity_momenta=[float("nan"), 1.0])
    assert run_curves(run_folder(tmp_path, content), 2)["dissimilarity"] == [[1, 2], [None, 1.0]]


@pytest.mark.parametrize("content", [b"", b"not a table", parquet(other=[1])])
def test_a_damaged_run_has_no_curves(tmp_path: Path, content: bytes) -> None:
    assert run_curves(run_folder(tmp_path, content), 17) == {}


def test_a_run_whose_metrics_are_not_as_written_has_no_curves(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, parquet(step=[1, 2], accuracy=[40.0, 50.0]))
    assert run_curves(folder, 2)["accuracy"] == [[1, 2], [40.0, 50.0]]
    (folder / "metrics.parquet").write_bytes(parquet(step=[1, 2], accuracy=[40.0, 90.0]))
    assert run_curves(folder, 2) == {}


def test_a_run_without_metrics_has_no_curves(tmp_path: Path) -> None:
    assert run_curves(tmp_path, 17) == {}
