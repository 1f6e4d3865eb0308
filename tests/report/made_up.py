"""Runs that nobody has trained: quick to make, whole in a store."""

import io
import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import polars as pl

from wola.bench import representative
from wola.bench.store import Store
from wola.ground.sealed import sealed
from wola.training import SEMANTICS, Scenario
from wola.training.scenario import record_key

#: Own data, an own rule and an own loss that are nowhere to be found.
STRANGE = {
    "dataset": "npz(path=/nowhere/mine.npz)",
    "partition": "dirichlet(mode=disjoint)",
    "aggregator": "nowhere.mine:NearestHalf(k=3)",
    "loss": "nowhere.mine:Loss(t=2)",
}


def put(store: Store, scenario: Scenario, made: bytes | None = None, **summary: Any) -> str:
    """Puts a made-up run of a scenario into a store; its key."""
    return put_record(store, representative(scenario).record(), made, **summary)


def put_record(
    store: Store, record: Mapping[str, Any], made: bytes | None = None, **summary: Any
) -> str:
    """Puts a made-up run of a record into a store, whatever it names; its key."""
    key = record_key(record)
    metrics = two_steps(summary.get("accuracy", 50.0)) if made is None else made
    accuracy = summary.pop("accuracy", 50.0)
    whole = {
        "key": key,
        "semantics": record["semantics"],
        "strategy": None,
        "ending": "finished",
        "accuracy": accuracy,
        "final_accuracy": accuracy,
        "steps": 2,
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
        "metrics_sha256": sha256(metrics).hexdigest(),
        **summary,
    }
    files = {
        "scenario.json": json.dumps(record).encode(),
        "metrics.parquet": metrics,
        "summary.json": sealed(whole),
    }
    store.put(key, files)
    return key


def record_of(content: Mapping[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    """The record of some fields: nothing that they name needs to be there."""
    return {"semantics": SEMANTICS, "fields": fields, "content": dict(content or {})}


def two_steps(accuracy: float | None) -> bytes:
    """Metrics of two steps, tested after the second."""
    return parquet(pl.DataFrame({"step": [1, 2], "accuracy": [None, accuracy]}))


def parquet(table: pl.DataFrame) -> bytes:
    """A table as the bytes of a file."""
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()
