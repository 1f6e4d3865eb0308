"""Programs started together and stopped for certain: own process groups, a log each."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from types import FrameType, TracebackType
from typing import Any, Self

#: Seconds that a program has to end by itself before it is killed.
GRACE = 5.0
STEP = 0.05

_ENDINGS = (signal.SIGTERM, signal.SIGHUP)


class DeploymentError(OSError):
    """A part of a deployment that did not start, or ended too early; the message quotes its log."""


@dataclass(frozen=True, eq=False)
class Program:
    """A program that was started: its name, process, log and the process group of its family."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def alive(self) -> bool:
        """Whether the program itself still runs."""
        return self.process.poll() is None

    def text(self) -> str:
        """All that it has written to its log."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def tail(self, lines: int = 12) -> str:
        """The last lines of its log."""
        return "\n".join(self.text().splitlines()[-lines:])

    @property
    def family(self) -> bool:
        """Whether the program or anything that it started still runs."""
        return self.signal(0)

    def signal(self, number: int) -> bool:
        """Sends a signal to the program and all it started; false if none is left."""
        self.process.poll()
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def stop(self, *, grace: float = GRACE) -> None:
        """Asks the family to end, and kills what is left of it after `grace` seconds."""
        if self.signal(signal.SIGTERM) and not self._gone(grace):
            self.kill()

    def kill(self) -> None:
        """Kills the family at once."""
        self.signal(signal.SIGKILL)
        self._gone(GRACE)

    def _gone(self, seconds: float) -> bool:
        end = monotonic() + seconds
        while (left := self.family) and monotonic() < end:
            sleep(STEP)
        return not left


class Programs:
    """Starts programs and stops all of them, in reverse order, when the block ends.

    It ends by itself, by an error, by Ctrl-C, by SIGTERM or SIGHUP; a second Ctrl-C does not
    disturb the stopping. Each program runs in a process group of its own, which its children
    share, and writes to ``folder/name.log``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Programs(Path(folder), {}) as programs:
    ...     sleeper = programs.start("sleeper", ["/bin/sleep", "60"])
    ...     sleeper.alive
    True
    >>> sleeper.alive
    False
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder, self.environment = folder, dict(environment)
        self.started: list[Program] = []
        self._handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        if threading.current_thread() is threading.main_thread():
            self._handlers = {number: signal.signal(number, _leave) for number in _ENDINGS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with _uninterrupted():
                self.stop_all()
        finally:
            _put_back(self._handlers)

    def start(self, name: str, command: Sequence[str]) -> Program:
        """Starts a program; a second one of the same name adds to the same log."""
        log = self.folder / f"{name}.log"
        try:
            with open(log, "ab") as output, _uninterrupted():
                process = subprocess.Popen(
                    list(command),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=self.environment,
                    start_new_session=True,
                )
                program = Program(name, process, log)
                self.started.append(program)
        except OSError as error:
            reason = error.strerror or str(error)
            raise DeploymentError(f"{name} cannot be started: {command[0]}: {reason}") from error
        return program

    def await_that(
        self, ready: Callable[[], bool], program: Program, *, seconds: float, what: str
    ) -> None:
        """Waits until `ready`; a program that ends before, or takes longer, is an error."""
        end = monotonic() + seconds
        while not ready():
            if not program.alive:
                code = program.process.returncode
                raise DeploymentError(f"{program.name} ended with code {code}:\n{program.tail()}")
            if monotonic() > end:
                raise DeploymentError(
                    f"{program.name}: {what} took more than {seconds:g} s:\n{program.tail()}"
                )
            sleep(STEP)

    def stop_all(self) -> None:
        """Stops everything that was started, the last one first."""
        for program in reversed(self.started):
            program.signal(signal.SIGTERM)
        end = monotonic() + GRACE
        for program in reversed(self.started):
            program.stop(grace=max(0.0, end - monotonic()))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Puts off Ctrl-C, SIGTERM and SIGHUP until the block is over.

    One that came between the start of a program and the note of it would leave it running.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    numbers = (signal.SIGINT, *_ENDINGS)
    before = {number: signal.signal(number, lambda n, _: came.append(n)) for number in numbers}
    try:
        yield
    finally:
        _put_back(before)
    for number in came:
        signal.raise_signal(number)


def _put_back(handlers: Mapping[signal.Signals, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
