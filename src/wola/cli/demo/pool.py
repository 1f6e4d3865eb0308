"""All runs of a plan, over the processors of this machine."""

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from wola.cli.demo.plan import Plan, Run, run

PATIENCE = 0.2


def run_all(plan: Plan, *, processes: int, on_done: Callable[[Run], None]) -> list[Run]:
    """The runs in the order of the plan, the same bits for any number of processes.

    ``on_done`` hears of each as soon as it is over. Each process computes with one thread. At a
    Ctrl-C, or any error, the processes are ended before it is passed on.
    """
    cells = list(plan.cells())
    if processes == 1:
        return [_told(run(plan, cell), on_done) for cell in cells]
    others = set(active_children())
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as executor:
        try:
            with _deaf_children():
                waiting = {executor.submit(run, plan, cell) for cell in cells}
            done = [_told(future.result(), on_done) for future in _as_completed(waiting)]
        except BrokenProcessPool:
            raise ChildProcessError(
                "a process of the demonstration was killed, for want of memory perhaps; try "
                "--processes 1"
            ) from None
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - others:
                child.terminate()
            raise
    found = {one.cell: one for one in done}
    return [found[cell] for cell in cells]


def _as_completed(waiting: set[Future[Run]]) -> Iterator[Future[Run]]:
    # The handler that polars puts before Python's lets a wait without end go on after a Ctrl-C.
    while waiting:
        done, waiting = wait(waiting, timeout=PATIENCE, return_when=FIRST_COMPLETED)
        yield from done


def _told(one: Run, on_done: Callable[[Run], None]) -> Run:
    on_done(one)
    return one


@contextmanager
def _deaf_children() -> Iterator[None]:
    # A terminal sends Ctrl-C to every process at once. Children inherit that it is blocked, so
    # only the parent answers, and does so for all; one that comes meanwhile waits.
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
