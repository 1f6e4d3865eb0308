"""Claims: who is at work on which run, so that two processes do not do the same one."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from threading import Event, Thread
from time import sleep, time
from types import TracebackType
from typing import Self
from uuid import uuid4

from wola.ground.files import refused
from wola.ground.sealed import sealed, unsealed

#: Seconds between two heartbeats, and after how many without one an owner counts as dead.
BEAT, STALE_AFTER = 10.0, 120.0

#: Seconds after which whoever replaces a dead claim at the same moment has done so.
SETTLED_AFTER = 0.1


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
    """What a claim file says: the run's `key`, the owner if it can be read, the last heartbeat."""

    path: Path
    key: str
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
        # A file system that fails once is no reason to stop training.
        with suppress(OSError):
            self.lost = not self._is_ours()
            if not self.lost:
                os.utime(self.path)

    def release(self) -> None:
        """Releases the claim; one that somebody else has taken over stays theirs."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with suppress(OSError):
            if self._is_ours():
                self.path.unlink()

    def _is_ours(self) -> bool:
        try:
            return _owner(self.path.read_bytes()) == self.owner
        except FileNotFoundError:
            return False

    def _keep_alive(self) -> None:
        while not self._end.wait(self.beat):
            self.touch()


def claims(folder: Path, key: str | None = None) -> Iterator[Held]:
    """The claim files in a folder, of one run or of all."""
    for path in folder.glob("*.json") if key is None else [folder / f"{key}.json"]:
        # A claim that is released at this moment is none.
        with suppress(FileNotFoundError, NotADirectoryError):
            touched = path.stat().st_mtime
            yield Held(path, path.stem, _owner(path.read_bytes()), touched)


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
    """Claims a run; None if somebody alive has it, or has released it at this moment.

    A claim is a file KEY.json that only one process can create. The claim of a dead owner is
    replaced. Of several who replace it at the same moment the last one has it: each waits a moment,
    looks again, and steps back if the file is not its own. A process that was suspended between
    its look and its replacement may still take a claim from somebody alive, who learns of it at
    the next heartbeat: the run is then done twice, with the same bits.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused(error, folder) from error
    made = Claim(folder / f"{key}.json", key, owner, beat)
    if _created(made.path, owner):
        return made
    if not any(held.is_dead(_clock(folder), stale_after) for held in claims(folder, key)):
        return None
    _replace(made.path, owner)
    sleep(SETTLED_AFTER)
    made.touch()
    return None if made.lost else made


def _created(path: Path, owner: Owner) -> bool:
    try:
        file = open(path, "xb")  # noqa: SIM115 (it is removed if writing fails)
    except FileExistsError:
        return False
    except OSError as error:
        raise refused(error, path) from error
    try:
        with file:
            file.write(sealed(asdict(owner)))
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise refused(error, path) from error
    return True


def _replace(path: Path, owner: Owner) -> None:
    draft = path.with_name(f".{owner.token}")
    _created(draft, owner)
    try:
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise refused(error, path) from error


def _owner(content: bytes) -> Owner | None:
    try:
        return Owner(**unsealed(content))
    except (ValueError, TypeError):
        # Being written at this moment, or damaged: its age alone tells whether it is dead.
        return None


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
