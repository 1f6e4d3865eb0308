"""The store: a folder with one folder per run, each there whole or not at all."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

import polars as pl

from wola.bench import index
from wola.bench.claims import BEAT, STALE_AFTER, Claim, Owner, alive, claim
from wola.bench.failures import Failure, failed_keys, forget_failure, read_failure, write_failure
from wola.bench.same import representative
from wola.bench.shared import write_shared
from wola.ground.files import draft_folder, move_aside, refused, write_whole
from wola.training import SEMANTICS, Result, Scenario

State = Literal["done", "failed", "running", "missing"]

#: Where the command line keeps its runs if it is not told otherwise.
DEFAULT_STORE = Path("store")


class StoreError(ValueError):
    """A store that cannot be used, and why."""


@dataclass(frozen=True)
class Store:
    """Runs by key: ``runs/KEY[:2]/KEY/`` with scenario.json, metrics.parquet and summary.json.

    The key is the SHA-256 of the representative scenario and the version of the semantics. A run
    is done when its summary exists; its folder is prepared under another name and renamed, so a
    reader sees all of it or nothing. `claims/`, `failed/`, `shared/` and `corrupt/` hold what
    their names say; `index.parquet` is a copy for quick reading, never the truth.
    """

    path: Path
    stale_after: float = STALE_AFTER
    beat: float = BEAT

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        create: bool = True,
        stale_after: float = STALE_AFTER,
        beat: float = BEAT,
    ) -> Self:
        """The store in a folder; a new one if there is none and `create` says so.

        A store of another version of the semantics is a `StoreError`: its numbers are not
        comparable, so the two are kept apart.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Store.open(folder).state("0" * 64)
        'missing'
        """
        root, marker = Path(path), Path(path) / "store.json"
        if not marker.is_file():
            _check_place(root, create)
            write_whole(marker, _json({"semantics": SEMANTICS}))
        try:
            version = json.loads(marker.read_bytes())["semantics"]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{marker} is damaged: {error!r}") from error
        if version != SEMANTICS:
            raise StoreError(
                f"{root} holds runs of semantics {version!r}, whose numbers differ from those of "
                f"this version, {SEMANTICS!r}; allowed: another folder"
            )
        return cls(root, stale_after, beat)

    def key(self, scenario: Scenario) -> str:
        """The name of the run that answers the scenario: that of its representative."""
        return representative(scenario).key()

    def folder(self, key: str) -> Path:
        """Where a run is, or would be."""
        return self.path / "runs" / key[:2] / key

    def keys(self) -> Iterator[str]:
        """The runs that are done, in the order of their keys."""
        return (path.name for path in index.run_folders(self.path / "runs") if _has_end(path))

    def is_done(self, key: str) -> bool:
        """Whether the run has its summary."""
        return _has_end(self.folder(key))

    def state(self, key: str) -> State:
        """Where the run stands: done, else running, else failed, else missing."""
        if self.is_done(key):
            return "done"
        if alive(self.path / "claims", key, stale_after=self.stale_after):
            return "running"
        return "missing" if self.failure(key) is None else "failed"

    def claim(self, key: str, owner: Owner | None = None) -> Claim | None:
        """The right to do a run, to be opened with `with`; None if it is done or another's.

        The owner is this process unless another is given. A claim without heartbeat for
        `stale_after` seconds, or whose process on this machine has ended, is taken over.
        """
        if self.is_done(key):
            return None
        folder, who = self.path / "claims", Owner.here() if owner is None else owner
        made = claim(folder, key, who, beat=self.beat, stale_after=self.stale_after)
        if made is not None and self.is_done(key):
            made.release()
            return None
        return made

    def running(self) -> dict[str, Owner | None]:
        """The runs under way, and whose they are."""
        held = alive(self.path / "claims", stale_after=self.stale_after)
        return {h.key: h.owner for h in held if not self.is_done(h.key)}

    def write(self, key: str, result: Result) -> None:
        """Keeps a run: scenario.json, metrics.parquet with the key, summary.json.

        If the disk is full, a `WriteError` says so and nothing is left behind. A run that another
        process has finished meanwhile stays as it is.
        """
        result = replace(result, scenario=representative(result.scenario))
        if key != (expected := result.scenario.key()):
            raise ValueError(f"key = {key!r}; allowed for this result: {expected!r}")
        buffer = io.BytesIO()
        result.frame().with_columns(pl.lit(key).alias("key")).write_parquet(buffer)
        self.put(key, result.scenario, buffer.getvalue(), result.summary())

    def put(self, key: str, scenario: Scenario, metrics: bytes, summary: dict[str, Any]) -> None:
        """Puts the files of a run in their place, all at once, with a checksum of the metrics."""
        files = {
            "scenario.json": _json(scenario.model_dump()),
            "metrics.parquet": metrics,
            "summary.json": _json({**summary, "metrics_sha256": sha256(metrics).hexdigest()}),
        }
        draft = draft_folder(self.path / "drafts", key, files)
        try:
            self._move_in(draft, key)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        forget_failure(self.path / "failed", key)

    def scenario(self, key: str) -> Scenario:
        """The scenario of a run that is done."""
        return Scenario.from_json((self.folder(key) / "scenario.json").read_text(encoding="utf-8"))

    def summary(self, key: str) -> dict[str, Any]:
        """The summary of a run that is done."""
        made: dict[str, Any] = json.loads((self.folder(key) / "summary.json").read_bytes())
        return made

    def metrics(self, key: str) -> pl.DataFrame:
        """One row per step of a run that is done."""
        return pl.read_parquet(self.folder(key) / "metrics.parquet")

    def fail(self, key: str, scenario: Scenario, log: str) -> None:
        """Records that a run failed, with the end of its log; counts the times it did."""
        write_failure(self.path / "failed", key, scenario, log)

    def failure(self, key: str) -> Failure | None:
        """What was recorded of a run that failed; None if it did not."""
        return read_failure(self.path / "failed", key)

    def failed(self) -> list[str]:
        """The runs that failed and are not done."""
        return [key for key in failed_keys(self.path / "failed") if not self.is_done(key)]

    def damage(self, key: str) -> str | None:
        """What is wrong with the files of a run that is done; None if they are as written."""
        try:
            summary, scenario = self.summary(key), self.scenario(key)
            metrics = (self.folder(key) / "metrics.parquet").read_bytes()
        except (OSError, ValueError) as error:
            return str(error)
        if scenario.key() != key:
            return f"{self.folder(key) / 'scenario.json'} is another run's"
        if sha256(metrics).hexdigest() != summary.get("metrics_sha256"):
            return f"{self.folder(key) / 'metrics.parquet'} is not what was written"
        return None

    def set_aside(self, key: str) -> Path:
        """Moves a damaged run out of the way, to ``corrupt/``; where it is now."""
        return move_aside(self.folder(key), self.path / "corrupt")

    def remove(self, key: str) -> None:
        """Deletes a run, and the record that it failed."""
        with suppress(FileNotFoundError):
            shutil.rmtree(move_aside(self.folder(key), self.path / "drafts"))
        forget_failure(self.path / "failed", key)

    def record(self, scenarios: Iterable[Scenario]) -> None:
        """Writes down which of the scenarios are answered by another one's run, and why."""
        write_shared(self.path / "shared", scenarios)

    def frame(self, refresh: bool = False, *, shared: bool = False) -> pl.DataFrame:
        """One row per run: all fields of its scenario, the strategy, the numbers of its summary.

        Runs that the index has are read from it, the others from their folders; `refresh` reads
        all folders again. With `shared` there is a row as well for every recorded scenario that
        another one's run answers: `key` is then its own, and `run` that of the run.
        """
        return index.frame(self.path, refresh=refresh, shared=shared)

    def _move_in(self, draft: Path, key: str) -> None:
        target = self.folder(key)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() and not self.is_done(key):
                self.set_aside(key)
            if not self.is_done(key):
                os.rename(draft, target)
        except OSError as error:
            if not self.is_done(key):
                raise refused(error, target) from error


def _has_end(folder: Path) -> bool:
    return (folder / "summary.json").is_file()


def _check_place(root: Path, create: bool) -> None:
    if root.exists() and not root.is_dir():
        raise StoreError(f"{root} is a file; allowed: a folder")
    if not create:
        raise StoreError(f"{root} is no store; allowed: a folder with a store.json")
    if root.is_dir() and any(not path.name.startswith(".") for path in root.iterdir()):
        raise StoreError(f"{root} holds other files; allowed: a store, or an empty folder")


def _json(value: Any) -> bytes:
    return (json.dumps(value, allow_nan=False) + "\n").encode()
