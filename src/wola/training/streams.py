"""Named random streams: every draw of a run has its own generator, made from the seed."""

from hashlib import sha256

from torch import Generator

Name = str | int


def stream_seed(seed: int, *names: Name) -> int:
    """The seed of a named stream: the first 63 bits of the SHA-256 of the seed and the names.

    >>> stream_seed(1, "batch", 0, 1) == stream_seed(1, "batch", 0, 2)
    False
    """
    digest = sha256(repr((seed, *names)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def stream(seed: int, *names: Name) -> Generator:
    """The generator of a named stream: always the same one for the same seed and names.

    Names carry the worker and the step, as in ``stream(seed, "batch", worker, step)``; so no draw
    depends on how many came before it, and a run can be taken up again at any step.

    >>> import torch
    >>> torch.equal(*(torch.rand(3, generator=stream(1, "attack", 7)) for _ in range(2)))
    True
    """
    return Generator().manual_seed(stream_seed(seed, *names))
