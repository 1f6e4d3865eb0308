"""Stores watched while runs come in: what is new since somebody last looked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from wola.bench.store import Store
from wola.report.page.curves import run_details
from wola.report.page.rows import FAILED, FIELDS, KEY, all_runs, details, names, rows
from wola.report.page.under_way import UnderWay, failure_reason, running_keys
from wola.report.runs import Runs, read_runs

#: Seconds for which a look at the stores counts as new.
FRESH = 1.0

_LINKED = ("runs", "coincidences", "strategies", "failed", "claims", "store.json")


def mirrored_store(store: Store, folder: Path) -> Store:
    """A store of links to another one, with an index of its own: reading it writes nothing there.

    >>> with TemporaryDirectory() as there, TemporaryDirectory() as here:
    ...     len(mirrored_store(Store.open(there), Path(here)).frame())
    0
    """
    for name in _LINKED:
        os.symlink((store.path / name).absolute(), folder / name)
    with suppress(FileNotFoundError):
        shutil.copyfile(store.path / "index.parquet", folder / "index.parquet")
    return Store(folder, store.stale_after, store.beat)


@dataclass
class WatchedStores:
    """Some stores, looked at again and again; open as a context manager.

    Every change is a numbered entry of `_log`: a key and its row, or None for a run that is gone.
    A stamp is the name of this object and how many entries there are.
    """

    stores: Sequence[Store]
    fresh: float = FRESH
    _name: str = field(default_factory=lambda: uuid4().hex[:8])
    _log: list[tuple[str, list[Any] | None]] = field(default_factory=list)
    _now: dict[str, list[Any]] = field(default_factory=dict)
    _found: dict[str, dict[str, Any]] = field(default_factory=dict)
    _notes: tuple[str, ...] = ()
    _names: dict[str, Any] = field(default_factory=dict)
    _progress: dict[str, Any] = field(default_factory=dict)
    _looked: float = -1e9
    _lock: Lock = field(default_factory=Lock)

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="wola-serve-")
        self._under_way = UnderWay(self.stores)
        places = [Path(self._folder.name) / str(number) for number in range(len(self.stores))]
        for place in places:
            place.mkdir()
        self._mirrors = [mirrored_store(s, p) for s, p in zip(self.stores, places, strict=True)]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def since(self, stamp: str) -> dict[str, Any]:
        """The rows that are new since a stamp, the keys that are gone, and the stamp of now.

        To a stamp of another server, or none, all rows are sent, and `whole` says so.
        """
        with self._lock:
            self._look()
            entries, whole = self._entries(stamp)
            last = dict(entries)
            return {
                "stamp": f"{self._name}.{len(self._log)}",
                "whole": whole,
                "rows": [row for row in last.values() if row is not None],
                "gone": [key for key, row in last.items() if row is None],
                "notes": list(self._notes),
                "names": self._names,
                "running": sum(len(running_keys(store)) for store in self.stores),
                "progress": self._progress,
            }

    def details(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What the page shows of some runs, by the beginning of their keys; unknown ones are not.

        Curves are read from folders within the stores alone, wherever links may lead.
        """
        with self._lock:
            found = {key: self._found[key] for key in keys if key in self._found}
        return {key: self._details(row) for key, row in found.items()}

    def _look(self) -> None:
        if monotonic() - self._looked < self.fresh:
            return
        runs: Runs = read_runs(*self._mirrors)
        table = all_runs(runs)
        self._found = {row["key"][:KEY]: row for row in table.iter_rows(named=True)}
        now = {str(row[0]): row for row in rows(table)}
        self._log += [(key, row) for key, row in now.items() if self._now.get(key) != row]
        self._log += [(key, None) for key in self._now if key not in now]
        self._now, self._notes, self._names = now, runs.notes, names(runs)
        self._progress = self._under_way.look(set(runs.table["run"]))
        self._looked = monotonic()

    def _entries(self, stamp: str) -> tuple[list[tuple[str, list[Any] | None]], bool]:
        name, _, number = stamp.partition(".")
        known = name == self._name and number.isascii() and number.isdigit()
        if known and int(number) <= len(self._log):
            return self._log[int(number) :], False
        return list(self._now.items()), True

    def _details(self, row: dict[str, Any]) -> dict[str, Any]:
        if row["ending"] == FAILED:
            return details(row, {}, failure_reason(self.stores, row["run"]))
        folder = self._folder_of(row)
        return details(row, {} if folder is None else run_details(folder, row["workers"]))

    def _folder_of(self, row: dict[str, Any]) -> Path | None:
        for store in self.stores:
            folder = store.folder(row["run"])
            inside = (store.path / "runs").resolve()
            read = [(folder / name).resolve() for name in ("metrics.parquet", "summary.json")]
            if all(path.is_file() and path.is_relative_to(inside) for path in read):
                return folder
        return None


def first_data() -> dict[str, Any]:
    """What a page that asks for its rows later begins with."""
    return {"fields": list(FIELDS), "rows": [], "notes": [], **names(read_runs())}
