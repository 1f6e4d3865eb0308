"""Work under way in some stores: how far the grids are, what runs now, what failed last."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import time
from typing import Any

from wola.bench.claims import claims
from wola.bench.events import last_line, short_name
from wola.bench.failures import failed_scenario
from wola.bench.notes import announced, notes
from wola.bench.progress import Speed
from wola.bench.store import Store
from wola.ground.sealed import DamagedFile

#: At most so many runs under way, and so many failures, are told.
SHOWN = 12


def failure_reason(stores: Sequence[Store], key: str) -> str | None:
    """The last line of the log of a run that failed; None if nothing is recorded of it."""
    found = (failure for store in stores if (failure := _failure(store, key)) is not None)
    return next((last_line(str(failure["log"])) for failure in found), None)


def running_keys(store: Store) -> set[str]:
    """The runs that somebody is at work on, found without writing anything."""
    # `Store.running` asks the file system for its time, and writes a file for that.
    held = claims(store.path / "claims")
    return {claim.key for claim in held if not claim.is_dead(time(), store.stale_after)}


@dataclass
class UnderWay:
    """Watches the grids of some stores; their pace is that since the first look at each."""

    stores: Sequence[Store]
    _paces: dict[tuple[str, ...], Speed] = field(default_factory=dict)

    def look(self, done: Collection[str]) -> dict[str, Any]:
        """Grids that are not done, with the time left; runs under way; the last failures.

        `done` are the keys of all runs that are in the stores.
        """
        running = {store.path: running_keys(store) for store in self.stores}
        grids = [self._grid(store, done, running[store.path]) for store in self.stores]
        now = [
            asdict(note)
            for store in self.stores
            for note in notes(store.path)
            if note.key in running[store.path]
        ]
        return {
            "grids": [grid for grid in grids if grid is not None],
            "under_way": now[:SHOWN],
            "failed": self._failures(),
        }

    def _grid(
        self, store: Store, done: Collection[str], running: Collection[str]
    ) -> dict[str, Any] | None:
        grid = announced(store.path)
        if grid is None:
            return None
        there = sum(key in done for key in grid.keys)
        failed = len({path.stem for path in _failed_files(store)}.intersection(grid.keys) - {*done})
        pace = self._paces.setdefault(grid.keys, Speed(len(grid.keys), there + failed))
        pace.done = there + failed - pace.there
        if pace.over >= pace.total:
            return None
        return {
            "title": grid.title,
            "total": pace.total,
            "done": there,
            "failed": failed,
            "running": len(running),
            "left": pace.left() if running else None,
        }

    def _failures(self) -> list[dict[str, str]]:
        """The runs that failed last, the latest first: what they are, and why."""
        found = [(path, store) for store in self.stores for path in _failed_files(store)]
        latest = sorted(found, key=lambda one: _modified(one[0]), reverse=True)[:SHOWN]
        made = []
        for path, store in latest:
            failure = None if store.is_done(path.stem) else _failure(store, path.stem)
            if failure is not None:
                with suppress(ValueError, KeyError, TypeError, AttributeError):
                    name = short_name(failed_scenario(failure))
                    made.append({"name": name, "reason": last_line(str(failure["log"]))})
        return made


def _failed_files(store: Store) -> list[Path]:
    return list((store.path / "failed").glob("*.json"))


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _failure(store: Store, key: str) -> dict[str, Any] | None:
    with warnings.catch_warnings():
        # A report notes damaged files already.
        warnings.simplefilter("ignore", DamagedFile)
        return store.failure(key)
