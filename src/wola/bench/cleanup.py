"""The clean-up of a store: damaged runs, and what killed processes have left."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time

from wola.bench.claims import alive, claims
from wola.bench.notes import live_folder
from wola.bench.store import Store
from wola.ground.files import remove_file

#: Seconds after which a draft that nobody has moved into place counts as abandoned.
ABANDONED = 3600.0


@dataclass(frozen=True)
class CleanedUp:
    """What was found: `damaged` runs by key with the reason, and how many of everything else."""

    damaged: dict[str, str]
    claims: int
    drafts: int
    live: int
    corrupt: int


def clean_up(store: Store, *, corrupt: bool = False) -> CleanedUp:
    """Removes what no run needs from a store; processes at work on it are not disturbed.

    Runs whose files are not as they were written are set aside, so that the next grid runs them
    again. Claims of dead owners go, drafts older than an hour, and the notes and checkpoints of
    runs that are done; with `corrupt` also the runs that were set aside.
    """
    damaged = {key: reason for key in list(store.keys()) if (reason := store.damage(key))}
    for key in damaged:
        store.set_aside(key)
    folder = store.path / "claims"
    active = {held.path for held in alive(folder, stale_after=store.stale_after)}
    dead = [held.path for held in claims(folder) if held.path not in active]
    done = [p for p in _inside(live_folder(store.path)) if store.is_done(p.name.split(".")[0])]
    unfinished = [p for p in _inside(folder) if p.name.startswith(".") and _age(p) > ABANDONED]
    for path in (*dead, *done, *unfinished):
        remove_file(path)
    old = [path for path in _inside(store.path / "drafts") if _age(path) > ABANDONED]
    aside = _inside(store.path / "corrupt") if corrupt else []
    for path in (*old, *aside):
        shutil.rmtree(path)
    return CleanedUp(damaged, len(dead), len(old) + len(unfinished), len(done), len(aside))


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _age(path: Path) -> float:
    with suppress(FileNotFoundError):
        return time() - path.stat().st_mtime
    return 0.0
