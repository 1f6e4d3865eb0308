"""What killed processes and damage have left in a store, and how it is cleared away."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time

from wola.bench.claims import alive, claims
from wola.bench.live import live_folder
from wola.bench.store import Store
from wola.ground.files import remove_file

#: Seconds after which a draft that nobody has put in its place is taken for abandoned.
ABANDONED = 3600.0


@dataclass(frozen=True)
class Swept:
    """What was found: `damaged` runs by key with the reason, and how many of all else."""

    damaged: dict[str, str]
    claims: int
    drafts: int
    live: int
    corrupt: int


def sweep(store: Store, *, corrupt: bool = False) -> Swept:
    """Clears a store of what no run needs; processes at work on it are not disturbed.

    Runs whose files are not as they were written are set aside, so that the next grid runs them
    again. Claims of dead owners go, and drafts older than an hour, and the notes and checkpoints
    of runs that are done; with `corrupt` also the runs that were set aside.
    """
    damaged = {key: reason for key in list(store.keys()) if (reason := store.damage(key))}
    for key in damaged:
        store.set_aside(key)
    folder = store.path / "claims"
    active = {held.path for held in alive(folder, stale_after=store.stale_after)}
    dead = [held.path for held in claims(folder) if held.path not in active]
    done = [p for p in _inside(live_folder(store.path)) if store.is_done(p.name.split(".")[0])]
    for path in (*dead, *done):
        remove_file(path)
    old = [path for path in _inside(store.path / "drafts") if _age(path) > ABANDONED]
    aside = _inside(store.path / "corrupt") if corrupt else []
    for path in (*old, *aside):
        shutil.rmtree(path)
    return Swept(damaged, len(dead), len(old), len(done), len(aside))


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _age(path: Path) -> float:
    with suppress(FileNotFoundError):
        return time() - path.stat().st_mtime
    return 0.0
