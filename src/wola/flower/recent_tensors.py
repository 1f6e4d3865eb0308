"""Tensors that this process has on disk and in memory, so that it need not read them again."""

import os
from pathlib import Path
from threading import Lock

from torch import Tensor

#: What tells whether a file is the one that was seen: device, number, time of change and size.
FileState = tuple[int, int, int, int]

#: Bytes of tensors that are remembered.
MOST_BYTES = 256 * 1024 * 1024


def file_state(about: os.stat_result) -> FileState:
    """What tells whether a file is the one that was seen."""
    return about.st_dev, about.st_ino, about.st_mtime_ns, about.st_size


class RecentTensors:
    """The newest tensors by the file that holds them; the file stays what counts.

    A tensor is given as long as the file is the very one that it was written to or read from:
    what another process wrote, removed or damaged since then is not overlooked.

    >>> import torch
    >>> recent = RecentTensors()
    >>> recent.put(Path("a"), (1, 2, 3, 4), 7, torch.ones(2))
    >>> recent.get(Path("a"), (1, 2, 3, 4)), recent.get(Path("a"), (1, 2, 9, 4))
    ((7, tensor([1., 1.])), None)
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._bytes, self._lock = most_bytes, 0, Lock()
        self._held: dict[Path, tuple[FileState, int, Tensor]] = {}

    def get(self, path: Path, state: FileState) -> tuple[int, Tensor] | None:
        """The round and the tensor of a file in this state, if they are remembered."""
        with self._lock:
            found = self._held.get(path)
        return found[1:] if found is not None and found[0] == state else None

    def put(self, path: Path, state: FileState, step: int, tensor: Tensor) -> None:
        """Remembers what a file in this state holds, and forgets the oldest beyond the limit."""
        with self._lock:
            self._forget(path)
            self._held[path] = state, step, tensor
            self._bytes += tensor.nbytes
            while self._bytes > self._most:
                self._forget(next(iter(self._held)))

    def _forget(self, path: Path) -> None:
        if (found := self._held.pop(path, None)) is not None:
            self._bytes -= found[2].nbytes
