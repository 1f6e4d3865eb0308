"""A worker process: it gets one run at a time over a pipe, and has a log of its own."""

import faulthandler
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from types import FrameType

from wola.bench.events import Event
from wola.bench.store import Store
from wola.bench.task import ONE_THREAD, Task, perform
from wola.bench.trackers import Trackers

_LOG_BYTES = 20_000


@dataclass(frozen=True)
class Ready:
    """The process waits for a run."""


@dataclass(frozen=True)
class Stuck:
    """The store cannot be written to, so no run can be kept."""

    error: OSError


@dataclass(frozen=True)
class Beat:
    """The process is alive, whatever it is at."""


Message = Event | Ready | Stuck | Beat


class WorkerProcess:
    """A process that does the runs it is given; `connection` is readable when it says something.

    `started` tells whether it has ever been ready. `heard` and `given` are the times, of whatever
    clock its user keeps, at which it last said something and was given its run.
    """

    def __init__(
        self,
        store: Store,
        log: Path,
        *,
        trackers: Trackers,
        environment: Mapping[str, str],
        now: float = 0.0,
    ) -> None:
        self.store, self.log_path, self.trackers = store, log, trackers
        self.environment = {**ONE_THREAD, **environment}
        self.task: Task | None = None
        self.started, self.ready = False, False
        self.heard, self.given = now, now
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=serve_tasks,
            args=(theirs, self.store, self.log_path, self.trackers),
            daemon=True,
        )
        with _surroundings(self.environment):
            self.process.start()
        # With our copy of its end closed, the connection ends when the process does.
        theirs.close()

    def give(self, task: Task, now: float = 0.0) -> None:
        """Starts a run; if the process has died meanwhile, `hear` will tell."""
        self.task, self.ready, self.given = task, False, now
        with suppress(OSError):
            self.connection.send(task)

    def hear(self) -> Message | None:
        """What the process says; None if it is dead."""
        try:
            message: Message = self.connection.recv()
        except (EOFError, OSError):
            return None
        return message

    def death(self) -> str:
        """Waits for the process to end; tells how it died, after the end of its log."""
        self._end()
        code = self.process.exitcode or 0
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"{self.log()}the process died: {how}"

    def log(self) -> str:
        """The end of what the process has written since its run began."""
        with suppress(OSError):
            return self.log_path.read_bytes()[-_LOG_BYTES:].decode(errors="replace")
        return ""

    def stop(self) -> None:
        """Ends the process at once; if it still answers, it releases its claim first."""
        self.connection.close()
        if self.process.is_alive():
            self.process.terminate()
        self._end()
        self.process.close()

    def _end(self) -> None:
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def serve_tasks(
    connection: "Connection[Message, Task]", store: Store, log: Path, trackers: Trackers
) -> None:
    """What a worker process does: runs as they come, until the other end of the pipe is closed.

    A run whose driver has gone is still finished and kept.
    """
    signal.signal(signal.SIGTERM, _leave)
    _write_to(log)
    faulthandler.enable()
    turn = Lock()

    def tell(message: Message) -> None:
        with suppress(OSError), turn:
            connection.send(message)

    tell(Ready())
    Thread(target=_beat, args=(tell, store.beat), name="heartbeat", daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            task = connection.recv()
            os.truncate(log, 0)
            try:
                perform(task, store, tell=tell, callbacks=trackers)
            except OSError as error:
                tell(Stuck(error))
            tell(Ready())


def _beat(tell: Callable[[Message], None], every: float) -> None:
    while True:
        sleep(every)
        tell(Beat())


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _write_to(log: Path) -> None:
    # Through the file descriptors, so that what compiled code says before it dies is there too.
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


@contextmanager
def _surroundings(environment: Mapping[str, str]) -> Iterator[None]:
    """Inside, processes are started with these variables, and do not hear Ctrl-C.

    A terminal sends Ctrl-C to every process at once, and only the driver should answer it.
    """
    # Started with the first process otherwise, it would make this one hear Ctrl-C again.
    resource_tracker.ensure_running()
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
