"""Networks whose making goes wrong, named in scenarios by their import path."""

import ctypes
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from wola.models.networks import mlp


def segfault(shape, classes):
    """Reads where nothing may be read."""
    print("about to read address 0", flush=True)
    ctypes.string_at(0)


def dies_once(shape, classes):
    """Ends the process without a word, unless it has done so before."""
    marker = Path(os.environ["WOLA_TEST_MARKER"])
    if not marker.exists():
        marker.touch()
        os._exit(3)
    return mlp(shape, classes)


def tells_surroundings(shape, classes):
    """Says in an error where it is."""
    names = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    print("on standard output", file=sys.stdout, flush=True)
    raise ValueError(" ".join(f"{name}={os.environ.get(name)}" for name in names))


def slow(shape, classes):
    """Takes half a second to make."""
    time.sleep(0.5)
    return mlp(shape, classes)


def stops_for_good(shape, classes):
    """Stops the process as a Ctrl-Z would, and nobody ever wakes it."""
    print("about to stop", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)


def hangs(shape, classes):
    """Never ends, and does not listen to a request to end either."""
    print("about to hang", flush=True)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(0.1)


def loses_the_store(shape, classes):
    """Takes the store away from under the grid."""
    shutil.rmtree(os.environ["WOLA_TEST_STORE"])
    return mlp(shape, classes)
