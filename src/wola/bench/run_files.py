"""The files of a run in a store, read only if they are what was written."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from wola.ground.sealed import Damaged, check_digest, read_sealed, sealed, unsealed
from wola.ground.tables import read_table, table_bytes
from wola.training import SEMANTICS, Result
from wola.training.scenario import record_key

#: The files of a run.
FILES = ("scenario.json", "metrics.parquet", "summary.json")


def files_of(key: str, result: Result) -> dict[str, bytes]:
    """What a run is kept as: its record, a row per step with the key, and a sealed summary."""
    metrics = table_bytes(result.frame().with_columns(pl.lit(key).alias("key")))
    checksum = {"metrics_sha256": sha256(metrics).hexdigest()}
    return {
        "scenario.json": (json.dumps(result.record(), allow_nan=False) + "\n").encode(),
        "metrics.parquet": metrics,
        "summary.json": sealed({**result.summary(), **checksum}),
    }


def record_in(folder: Path) -> dict[str, Any]:
    """The record of a run, whose hash is the folder's name: its semantics, fields and content."""
    path = folder / "scenario.json"
    try:
        return _record(folder.name, path.read_bytes())
    except Damaged as error:
        raise Damaged(f"{path} is damaged: {error}") from None


def summary_in(folder: Path) -> dict[str, Any]:
    """The summary of a run."""
    return read_sealed(folder / "summary.json")


def metrics_in(folder: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """One row per step of a run, or some columns of them."""
    path = folder / "metrics.parquet"
    content = check_digest(path, path.read_bytes(), summary_in(folder).get("metrics_sha256"))
    try:
        return read_table(content, columns)
    except Damaged as error:
        raise Damaged(f"{path} is damaged: {error}") from None


def damage_of(key: str, files: Mapping[str, Path | bytes]) -> str | None:
    """What is wrong with a run's files, given as paths or by their content; None if nothing is.

    Of a run of another version only the scenario is looked at, whose key says what it must be.
    """
    reading = FILES[0]
    try:
        found = {k: v if isinstance(v, bytes) else v.read_bytes() for k, v in files.items()}
        metrics, record = found["metrics.parquet"], _record(key, found[reading])
        if record["semantics"] != SEMANTICS:
            return None
        reading = "summary.json"
        checksum = unsealed(found[reading])["metrics_sha256"]
        reading = "metrics.parquet"
        if sha256(metrics).hexdigest() != checksum:
            raise Damaged("its content is not what was written")
        read_table(metrics)
    except OSError as error:
        return str(error)
    except KeyError as error:
        return f"{key}: {error} is missing"
    except Damaged as error:
        place = files[reading]
        shown = place if isinstance(place, Path) else f"{reading} of {key}"
        return f"{shown} is damaged: {error}"
    return None


def _record(key: str, content: bytes) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(content)
        known = record_key(record)
        whole = isinstance(record["fields"], dict) and isinstance(record["content"], dict)
        _ = record["semantics"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"it is no record of a run ({type(error).__name__})") from None
    if known != key or not whole:
        raise Damaged("it is another run's")
    return record
