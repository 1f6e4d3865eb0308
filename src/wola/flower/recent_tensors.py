"""Tensors that this process has on disk and in memory, so that it need not read them again."""

from pathlib import Path
from threading import Lock

from torch import Tensor

#: Bytes of tensors that are remembered.
MOST_BYTES = 256 * 1024 * 1024


class RecentTensors:
    """The newest tensors by the file that holds them, with the round and the file's checksum.

    A tensor is given as long as the file has the checksum with which it was written or read: what
    another process wrote or removed since then is not overlooked.

    >>> import torch
    >>> recent = RecentTensors()
    >>> recent.put(Path("a"), b"checksum", 7, torch.ones(2))
    >>> recent.get(Path("a"), b"checksum"), recent.get(Path("a"), b"another")
    ((7, tensor([1., 1.])), None)
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._bytes, self._lock = most_bytes, 0, Lock()
        self._held: dict[Path, tuple[bytes, int, Tensor]] = {}

    def get(self, path: Path, checksum: bytes) -> tuple[int, Tensor] | None:
        """The round and the tensor of a file with this checksum, if they are remembered."""
        with self._lock:
            found = self._held.get(path)
        return found[1:] if found is not None and found[0] == checksum else None

    def put(self, path: Path, checksum: bytes, step: int, tensor: Tensor) -> None:
        """Remembers what a file holds, and forgets the oldest beyond the limit."""
        with self._lock:
            self._forget(path)
            self._held[path] = checksum, step, tensor
            self._bytes += tensor.nbytes
            while self._bytes > self._most:
                self._forget(next(iter(self._held)))

    def _forget(self, path: Path) -> None:
        if (found := self._held.pop(path, None)) is not None:
            self._bytes -= found[2].nbytes
