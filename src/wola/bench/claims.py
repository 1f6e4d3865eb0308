"""Claims: who is at work on which run, so that no two processes do the same one."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from errno import ENOTDIR
from functools import cache
from pathlib import Path
from threading import Event, Thread
from time import time
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from wola.ground.files import refused

#: Seconds between two heartbeats, and after how many without one an owner counts as dead.
BEAT, STALE_AFTER = 10.0, 120.0


@dataclass(frozen=True)
class Owner:
    """A process that works on runs: its machine, its number there, when it started, and a token.

    The machine is its name with the boot and the process namespace, so that two containers of one
    name are two machines; `started` tells a process from a later one of the same number.
    """

    host: str
    machine: str
    pid: int
    started: str
    token: str

    @classmethod
    def here(cls) -> Self:
        """This process, with a token of its own."""
        pid = os.getpid()
        return cls(socket.gethostname(), _machine(), pid, _started(pid), uuid4().hex)

    def is_gone(self) -> bool:
        """Whether the process is known to have ended: it was on this machine, and is not now."""
        if self.machine != _machine():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass  # Another user's process: alive.
        return _started(self.pid) != self.started


@dataclass(frozen=True)
class Held:
    """What a claim file says: the run's `key`, its `generation`, the owner if it can be read."""

    path: Path
    key: str
    generation: int
    owner: Owner | None
    touched: float

    def is_dead(self, now: float, stale_after: float) -> bool:
        """Whether the owner has ended, or has not been heard of for `stale_after` seconds."""
        gone = self.owner is not None and self.owner.is_gone()
        return gone or now - self.touched > stale_after


@dataclass
class Claim:
    """The right to do one run: while open as a context manager, a thread keeps it alive.

    `lost` tells that somebody has taken the claim over, as happens to a process that was suspended
    for longer than others wait; what it writes is the same run, so nothing is damaged.
    """

    path: Path
    key: str
    owner: Owner
    beat: float = BEAT
    lost: bool = False
    _end: Event = field(default_factory=Event, repr=False)
    _thread: Thread | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._keep_alive, name=f"claim {self.key[:8]}", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def touch(self) -> None:
        """One heartbeat."""
        # A file system that stumbles once is not a reason to stop training.
        with suppress(OSError):
            os.utime(self.path)
        found = {held.generation for held in claims(self.path.parent, self.key)}
        self.lost = max(found, default=0) != _parsed(self.path)[1]

    def release(self) -> None:
        """Gives the run free, with what dead owners before had left."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        _, own = _parsed(self.path)
        # Lower generations first: as long as this one stands, they stay dead.
        for held in sorted(claims(self.path.parent, self.key), key=lambda h: h.generation):
            if held.generation <= own:
                with suppress(OSError):
                    held.path.unlink(missing_ok=True)

    def _keep_alive(self) -> None:
        while not self._end.wait(self.beat):
            self.touch()


def claims(folder: Path, key: str | None = None) -> Iterator[Held]:
    """The claim files in a folder, of one run or of all."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for entry in os.scandir(folder):
            found, generation = _parsed(Path(entry.name))
            if generation and key in (None, found):
                with suppress(FileNotFoundError):
                    touched = entry.stat().st_mtime
                    yield Held(Path(entry.path), found, generation, _owner(entry.path), touched)


def alive(folder: Path, key: str | None = None, *, stale_after: float = STALE_AFTER) -> list[Held]:
    """The claims whose owner is at work, as far as can be told."""
    found = list(claims(folder, key))
    now = _clock(folder) if found else 0.0
    return [held for held in found if not held.is_dead(now, stale_after)]


def claim(
    folder: Path,
    key: str,
    owner: Owner,
    *,
    beat: float = BEAT,
    stale_after: float = STALE_AFTER,
) -> Claim | None:
    """Claims a run; None if somebody alive has it.

    A claim is a file KEY.G.json that only one process can create. It is never taken away from a
    dead owner: who takes over creates generation G + 1, which again only one can. Both look again
    afterwards, and step back if another claim of the run is alive, so a slow process that acted on
    what it saw long ago does no harm.
    """
    found = list(claims(folder, key))
    if found and alive(folder, key, stale_after=stale_after):
        return None
    generation = max((held.generation for held in found), default=0) + 1
    path = folder / f"{key}.{generation}.json"
    if not _created(path, owner):
        return None
    made = Claim(path, key, owner, beat)
    others = [h for h in alive(folder, key, stale_after=stale_after) if h.path != path]
    if others or any(held.generation > generation for held in claims(folder, key)):
        path.unlink(missing_ok=True)
        return None
    return made


def _created(path: Path, owner: Owner) -> bool:
    try:
        os.makedirs(path.parent, exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(json.dumps(asdict(owner)))
    except FileExistsError:
        if not path.parent.is_dir():
            raise refused(NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR)), path.parent) from None
        return False
    except OSError as error:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        raise refused(error, path) from error
    return True


def _parsed(path: Path) -> tuple[str, int]:
    key, _, rest = path.name.partition(".")
    number = rest.removesuffix(".json")
    return key, int(number) if number.isdecimal() else 0


def _owner(path: str) -> Owner | None:
    try:
        content: dict[str, Any] = json.loads(Path(path).read_bytes())
        return Owner(**content)
    except (OSError, ValueError, TypeError):
        return None  # Being written at this moment: its age alone tells whether it is dead.


def _clock(folder: Path) -> float:
    # The file system's own time, which is also that of the claims: machines' clocks may differ.
    probe = folder / f".clock-{uuid4().hex}"
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError:
        return time()  # Who may only read has no better one.
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


@cache
def _machine() -> str:
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


def _started(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    # A process that has ended but is not yet reaped by its parent still has an entry: no start.
    return "" if fields[0] == "Z" else fields[19]
