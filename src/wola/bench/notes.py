"""Notes in a store on the grid and the runs under way, for those who watch.

No grid needs them to go on: a note that is lost or stale does no harm.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

from wola.bench.events import Evaluated, Event, short_name
from wola.bench.marker import is_there
from wola.ground.files import WriteError, write_whole
from wola.ground.sealed import read_sealed, sealed
from wola.training import Scenario

#: Seconds between two notes of one run, at least.
NOTE_EVERY = 0.5


@dataclass(frozen=True)
class Announced:
    """A grid that somebody runs: its title and the keys of its runs."""

    title: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Note:
    """A run under way: which it is, the steps done, and the last accuracy in percent, if any."""

    key: str
    name: str
    step: int
    steps: int
    accuracy: float | None


def live_folder(store: Path) -> Path:
    """Where the notes and checkpoints of runs under way are."""
    return store / "live"


def checkpoint_file(store: Path, key: str) -> Path:
    """Where a run under way keeps its checkpoint."""
    return live_folder(store) / f"{key}.pt"


def announce(store: Path, title: str, keys: Sequence[str]) -> None:
    """Notes which runs the grid consists of; the last grid announced counts."""
    write_whole(live_folder(store) / "grid.json", sealed({"title": title, "keys": list(keys)}))


def announced(store: Path) -> Announced | None:
    """The grid that was announced last; None if none was, or the note cannot be read."""
    try:
        content = read_sealed(live_folder(store) / "grid.json")
        return Announced(str(content["title"]), tuple(map(str, content["keys"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def notes(store: Path) -> Iterator[Note]:
    """The notes of runs under way, in the order of their keys; unreadable ones are left out."""
    for path in sorted(live_folder(store).glob("*.note")):
        with suppress(OSError, ValueError, TypeError):
            yield Note(**read_sealed(path))


class NoteWriter:
    """Writes the note of one run: replaced when the model is tested, removed at the end.

    Tests may follow each other quickly, and a note costs a millisecond: it is replaced at most
    every `NOTE_EVERY` seconds.
    """

    def __init__(self, store: Path, key: str, scenario: Scenario) -> None:
        self.store, self.path = store, live_folder(store) / f"{key}.note"
        self.key, self.name, self.steps = key, short_name(scenario), scenario.steps
        self._written = 0.0

    def __enter__(self) -> Self:
        self._write(0, None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def __call__(self, event: Event) -> None:
        """Notes the result of a test of the model."""
        if isinstance(event, Evaluated) and monotonic() - self._written >= NOTE_EVERY:
            self._write(event.step, event.accuracy)

    def _write(self, step: int, accuracy: float | None) -> None:
        shown = accuracy if accuracy is not None and isfinite(accuracy) else None
        note = Note(self.key, self.name, step, self.steps, shown)
        self._written = monotonic()
        if is_there(self.store):
            with suppress(WriteError):
                write_whole(self.path, sealed(asdict(note)), sync=False)
