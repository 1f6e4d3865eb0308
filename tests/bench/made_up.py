"""Runs that nobody has trained: quick to make, whole in a store."""

import io
import json
from hashlib import sha256
from pathlib import Path

import polars as pl

from wola.bench.coincidence import representative
from wola.bench.store import Store
from wola.ground.sealed import sealed
from wola.training import SEMANTICS, Result, Scenario, simulate


def trained(**changes: object) -> Result:
    """A real run, of three steps."""
    return simulate(Scenario.paper("iris", **{"steps": 3, "batch": 8, **changes}))


def put(store: Store, scenario: Scenario, *, accuracy: float | None = 50.0) -> str:
    """Puts a made-up run into a store; its key."""
    key = store.key(scenario)
    metrics = io.BytesIO()
    pl.DataFrame({"step": [1, 2], "accuracy": [None, accuracy], "key": key}).write_parquet(metrics)
    summary = {
        "key": key,
        "semantics": SEMANTICS,
        "strategy": scenario.strategy,
        "ending": "finished",
        "accuracy": accuracy,
        "final_accuracy": accuracy,
        "steps": scenario.steps,
        "tests": 1,
        "tests_after_end": 0,
        "skipped": 0,
        "dropped": 0,
        "classes": ["a", "b"],
        "class_accuracies": [accuracy, None],
        "dissimilarity_gradients": 1.0,
        "dissimilarity_momenta": None,
        "cosine": 0.5,
        "seconds": {"rule": 0.25, "attack": 0.5},
        "digest": key[::-1],
    }
    checksum = sha256(metrics.getvalue()).hexdigest()
    record = representative(scenario).record()
    files = {
        "scenario.json": json.dumps(record).encode(),
        "metrics.parquet": metrics.getvalue(),
        "summary.json": sealed({**summary, "metrics_sha256": checksum}),
    }
    store.put(key, files)
    return key


def files(folder: Path) -> set[str]:
    """The files below a folder, by their path from there."""
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
