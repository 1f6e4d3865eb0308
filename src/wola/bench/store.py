"""The store: a folder with one folder per run, each there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

import polars as pl

from wola.bench import index
from wola.bench.claims import BEAT, STALE_AFTER, Claim, Owner, alive, claim
from wola.bench.coincidence import representative, write_coincidences
from wola.bench.failures import Failure, failed_keys, forget_failure, read_failure, write_failure
from wola.bench.marker import check_there, open_marker
from wola.bench.run_files import FILES, damage_of, files_of, metrics_in, record_in, summary_in
from wola.bench.strategies import write_strategies
from wola.ground.files import draft_folder, move_aside, refused
from wola.training import Result, Scenario
from wola.training.scenario import record_key

State = Literal["done", "failed", "running", "missing"]

#: Where the command line keeps its runs if it is not told otherwise.
DEFAULT_STORE = Path("store")


@dataclass(frozen=True)
class Store:
    """Runs by key: ``runs/KEY[:2]/KEY/`` with scenario.json, metrics.parquet and summary.json.

    The key is the SHA-256 of scenario.json, the record of the representative scenario: the version
    of the semantics, the fields that differ from their defaults and the content of the user's own
    data and sources. So runs of several versions may lie in one store. A run is done when its
    summary exists; its folder is prepared under another name and renamed, so a reader sees all of
    it or nothing, and what is read is verified first: a `Damaged` names what is not as it was
    written. `claims/`, `failed/`, `coincidences/`, `strategies/` and `corrupt/` hold what
    their names say; `index.parquet` is a copy for quick reading, never the truth. Reading a store
    imports nothing that it names, and opens no data of the user's.
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

        A folder that another version of wola has laid out in another way is a `StoreError`.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Store.open(folder).state("0" * 64)
        'missing'
        """
        open_marker(Path(path), create=create)
        return cls(Path(path), stale_after, beat)

    def check_there(self) -> None:
        """Raises a `WriteError` if the store has vanished, deleted or on a disk that is gone."""
        check_there(self.path)

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
        self.check_there()
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
        record = result.record()
        if key != (expected := record_key(record)):
            raise ValueError(f"key = {key!r}; allowed for this result: {expected!r}")
        self.put(key, files_of(key, result))

    def put(self, key: str, files: Mapping[str, bytes]) -> None:
        """Puts the files of a run in their place, all at once."""
        self.check_there()
        draft = draft_folder(self.path / "drafts", key, files)
        try:
            self._move_in(draft, key)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        forget_failure(self.path / "failed", key)

    def record(self, key: str) -> dict[str, Any]:
        """The record of a run that is done: its semantics, fields and content."""
        return record_in(self.folder(key))

    def scenario(self, key: str) -> Scenario:
        """The scenario of a run that is done; nothing that it names is imported."""
        return Scenario.stored(self.record(key)["fields"])

    def summary(self, key: str) -> dict[str, Any]:
        """The summary of a run that is done."""
        return summary_in(self.folder(key))

    def metrics(self, key: str) -> pl.DataFrame:
        """One row per step of a run that is done."""
        return metrics_in(self.folder(key))

    def fail(self, key: str, scenario: Scenario, log: str) -> None:
        """Records that a run failed, with the end of its log; counts the times it did."""
        self.check_there()
        write_failure(self.path / "failed", key, scenario, log)

    def failure(self, key: str) -> Failure | None:
        """What was recorded of a run that failed; None if it did not."""
        return read_failure(self.path / "failed", key)

    def failed(self) -> list[str]:
        """The runs that failed and are not done."""
        return [key for key in failed_keys(self.path / "failed") if not self.is_done(key)]

    def damage(self, key: str) -> str | None:
        """What is wrong with the files of a run that is done; None if they are as written."""
        return damage_of(key, {name: self.folder(key) / name for name in FILES})

    def set_aside(self, key: str) -> Path:
        """Moves a damaged run out of the way, to ``corrupt/``; where it is now."""
        return move_aside(self.folder(key), self.path / "corrupt")

    def set_aside_file(self, path: Path) -> Path:
        """Moves a damaged file of the store out of the way, to ``corrupt/``; where it is now."""
        return move_aside(path, self.path / "corrupt")

    def remove(self, key: str) -> None:
        """Deletes a run, and the record that it failed."""
        with suppress(FileNotFoundError):
            shutil.rmtree(move_aside(self.folder(key), self.path / "drafts"))
        forget_failure(self.path / "failed", key)

    def note_coincidences(self, pairs: Iterable[tuple[Scenario, Scenario]]) -> None:
        """Writes down which scenarios are answered by another one's run, and why."""
        write_coincidences(self.path / "coincidences", pairs)

    def note_strategies(self, strategies: Mapping[str, Mapping[str, Any]]) -> None:
        """Writes down strategies of a grid's own, so that reports can name them."""
        write_strategies(self.path / "strategies", strategies)

    def frame(self, refresh: bool = False, *, coinciding: bool = False) -> pl.DataFrame:
        """One row per run: all fields of its scenario, the strategy, the numbers of its summary.

        Runs that the index has are read from it, the others from their folders; `refresh` reads
        all folders again. With `coinciding` there is a row as well for every recorded scenario
        that another one's run answers: `key` is then its own, and `run` that of the run. Runs of
        another version of the semantics have no row.
        """
        return index.frame(self.path, refresh=refresh, coinciding=coinciding)

    def other_versions(self) -> dict[str, int]:
        """How many runs there are of other versions of the semantics, whose numbers may differ."""
        return index.other_versions(self.path)

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
