import io
import math
from base64 import b64decode
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.browser.store import metrics
from wola.ground.sealed import sealed
from wola.report.page.curves import (
    MOST_CLASSES,
    SPANS,
    many_details,
    run_classes,
    run_details,
    shortened,
    span_means,
)
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
    made = run_details(run_folder(tmp_path, metrics(scenario)), 17)
    tested = table.drop_nulls("accuracy")
    assert made["accuracy"][0] == tested["step"].to_list()
    assert made["accuracy"][1] == pytest.approx(tested["accuracy"].to_list(), abs=0.0051)
    assert made["cosine"][0] == table["step"].to_list()
    assert made["cosine"][1] == pytest.approx(table["cosine"].to_list(), abs=0.00051)
    assert made["dissimilarity"][0] == table["step"].to_list()
    weights = made["weights"]
    codes = np.frombuffer(b64decode(weights["bytes"]), np.uint8).reshape(20, 17)
    shown = weights["low"] + codes / 254 * (weights["high"] - weights["low"])
    assert shown == pytest.approx(np.array(table["weights"].to_list()), abs=weights["high"] / 254)


def test_a_long_run_is_shown_in_spans(tmp_path: Path) -> None:
    steps = np.arange(1, 2001)
    content = parquet(step=steps, accuracy=steps / 20.0, dissimilarity_momenta=steps * 1.0)
    made = run_details(run_folder(tmp_path, content), 17)
    assert len(made["accuracy"][0]) <= 2 * SPANS
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
    made = run_details(run_folder(tmp_path, buffer.getvalue()), 2)
    assert list(b64decode(made["weights"]["bytes"])) == [254, 254, 255, 255, 255, 255]


@pytest.mark.parametrize(("weights", "low"), [([0.4, 0.6], 0.0), ([-0.2, 1.2], -0.2)])
def test_the_scale_of_weights_begins_at_zero_or_below(
    tmp_path: Path, weights: list[float], low: float
) -> None:
    made = run_details(run_folder(tmp_path, parquet(step=[1], weights=[weights])), 2)
    assert made["weights"]["low"] == low


def test_what_is_not_finite_is_shown_as_missing(tmp_path: Path) -> None:
    content = parquet(step=[1, 2], accuracy=[None, 50.0], dissimilarity_momenta=[float("nan"), 1.0])
    assert run_details(run_folder(tmp_path, content), 2)["dissimilarity"] == [[1, 2], [None, 1.0]]


@pytest.mark.parametrize("content", [b"", b"not a table", parquet(other=[1])])
def test_a_damaged_run_has_no_curves(tmp_path: Path, content: bytes) -> None:
    assert run_details(run_folder(tmp_path, content), 17) == {}


def test_a_run_whose_metrics_are_not_as_written_has_no_curves(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, parquet(step=[1, 2], accuracy=[40.0, 50.0]))
    assert run_details(folder, 2)["accuracy"] == [[1, 2], [40.0, 50.0]]
    (folder / "metrics.parquet").write_bytes(parquet(step=[1, 2], accuracy=[40.0, 90.0]))
    assert run_details(folder, 2) == {}


def test_a_run_without_metrics_has_no_curves(tmp_path: Path) -> None:
    assert run_details(tmp_path, 17) == {}


def test_runs_read_together_are_as_each_alone(tmp_path: Path) -> None:
    scenario = Scenario.paper("iris", byzantine=2, aggregator="multi-krum")
    contents = [
        metrics(scenario),
        metrics(scenario, steps=40),
        parquet(step=[1, 2], accuracy=[None, 50.0]),
        b"damaged",
        parquet(step=[1.5], cosine=[None]),
    ]
    folders = []
    for number, content in enumerate(contents):
        (folder := tmp_path / f"run [{number}]").mkdir()
        folders.append((run_folder(folder, content), 17))
    (folders[3][0] / "metrics.parquet").write_bytes(b"something else")
    together = many_details(folders)
    assert together == [run_details(folder, workers) for folder, workers in folders]
    assert [sorted(made) for made in together] == [
        ["accuracy", "cosine", "dissimilarity", "weights"],
        ["accuracy", "cosine", "dissimilarity", "weights"],
        ["accuracy"],
        [],
        [],
    ]


@given(
    value=st.floats(-1e18, 1e18).filter(lambda v: abs(v) > 1e-18),
    digits=st.one_of(st.none(), st.integers(0, 4)),
)
def test_shortened_numbers_are_near_and_short(value: float, digits: int | None) -> None:
    if digits is not None:
        value = math.fmod(value, 1000.0)
    (made,) = shortened(np.array([value]), digits)
    assert made is not None
    if digits is None:
        assert made == pytest.approx(value, rel=5.001e-4)
        assert made == float(f"{made:.4g}")
    else:
        assert made == pytest.approx(value, abs=0.5001 * 10.0**-digits)
        assert made == round(made, digits)


def test_the_final_model_is_shown_class_by_class() -> None:
    summary = {
        "classes": ["a", "b"],
        "class_accuracies": [75.126, None],
        "confusion": [[3, 1], [0, 0]],
    }
    assert run_classes(summary) == {
        "classes": {"names": ["a", "b"], "accuracies": [75.13, None]},
        "confusion": [[3, 1], [0, 0]],
    }


def test_of_many_classes_only_the_accuracies_are_shown() -> None:
    many = MOST_CLASSES + 1
    summary = {
        "classes": list(range(many)),
        "class_accuracies": [50.0] * many,
        "confusion": np.eye(many, dtype=int).tolist(),
    }
    assert set(run_classes(summary)) == {"classes"}
    assert len(run_classes(summary)["classes"]["accuracies"]) == many


@pytest.mark.parametrize("rates", [None, [], [50.0]])
def test_classes_that_do_not_fit_are_not_shown(rates: object) -> None:
    assert run_classes({"classes": ["a", "b"], "class_accuracies": rates}) == {}
