"""The clean-up of a store: damaged runs, and what killed processes have left."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wola.bench.claims import alive, claims
from wola.bench.coincidence import coincidences_in
from wola.bench.notes import live_folder
from wola.bench.store import Store
from wola.ground.files import ABANDONED, age_of, clear_leftovers, remove_file
from wola.ground.sealed import Damaged, unsealed, unsealed_bytes
from wola.ground.tables import unsealed_table

#: The folders of a store in which files are replaced.
_WRITTEN = ("live", "failed", "coincidences", "strategies", "figures")


@dataclass(frozen=True)
class CleanedUp:
    """What was found: `damaged` runs by key and `damaged_files` by path, each with the reason, and
    how many of everything else.
    """

    damaged: dict[str, str]
    damaged_files: dict[str, str]
    claims: int
    drafts: int
    live: int
    corrupt: int


def clean_up(store: Store, *, corrupt: bool = False) -> CleanedUp:
    """Removes what no run needs from a store; processes at work on it are not disturbed.

    Runs whose files are not as they were written are set aside, so that the next grid runs them
    again; so are other files that are not. Claims of dead owners go, drafts older than an hour,
    half-written files as well, and the notes and checkpoints of runs that are done; with `corrupt`
    also what was set aside.
    """
    damaged = {key: reason for key in list(store.keys()) if (reason := store.damage(key))}
    for key in damaged:
        store.set_aside(key)
    folder = store.path / "claims"
    active = {held.path for held in alive(folder, stale_after=store.stale_after)}
    dead = [held.path for held in claims(folder) if held.path not in active]
    done = [p for p in _inside(live_folder(store.path)) if store.is_done(p.name.split(".")[0])]
    unfinished = [p for p in _inside(folder) if p.name.startswith(".") and age_of(p) > ABANDONED]
    for path in (*dead, *done, *unfinished):
        remove_file(path)
    files = {path: reason for path in _checked(store.path) if (reason := _damage(path))}
    for path in files:
        with suppress(FileNotFoundError):
            store.set_aside_file(path)
    old = [path for path in _inside(store.path / "drafts") if age_of(path) > ABANDONED]
    aside = _inside(store.path / "corrupt") if corrupt else []
    for path in (*old, *aside):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            remove_file(path)
    named = {str(path): reason for path, reason in files.items()}
    drafts = len(old) + len(unfinished) + clear_half_written(store)
    return CleanedUp(damaged, named, len(dead), drafts, len(done), len(aside))


def clear_half_written(store: Store) -> int:
    """Removes files that killed writers left half-written an hour ago or before; how many."""
    folders = (store.path, *(store.path / name for name in _WRITTEN))
    return sum(clear_leftovers(folder) for folder in folders)


def _checked(store: Path) -> list[Path]:
    """The files beside the runs that must be as they were written."""
    folders = {"failed": "*.json", "coincidences": "*.json", "strategies": "*.json"}
    more = {"figures": "*.parquet", "live": "*.pt"}
    found = [p for name, kind in (folders | more).items() for p in (store / name).glob(kind)]
    index = store / "index.parquet"
    return sorted([*found, index] if index.exists() else found)


def _damage(path: Path) -> str | None:
    try:
        content = path.read_bytes()
        if path.suffix == ".parquet":
            unsealed_table(content)
        elif path.suffix == ".pt":
            unsealed_bytes(content)
        elif path.parent.name == "coincidences":
            coincidences_in(path.name, content)
        else:
            unsealed(content)
    except FileNotFoundError:
        return None
    except (OSError, Damaged) as error:
        return str(error)
    return None


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
