"""Tensors in memory, beside the files that hold them."""

from pathlib import Path

import torch

from wola.flower.recent_tensors import RecentTensors

CHECKSUM = b"checksum"


def test_the_oldest_are_forgotten_beyond_the_limit() -> None:
    recent = RecentTensors(most_bytes=100)
    for i in range(4):
        recent.put(Path(str(i)), CHECKSUM, i, torch.zeros(10))
    found = [recent.get(Path(str(i)), CHECKSUM) is not None for i in range(4)]
    assert found == [False, False, True, True]


def test_one_that_is_put_again_counts_once() -> None:
    recent = RecentTensors(most_bytes=100)
    for i in range(9):
        recent.put(Path("a"), CHECKSUM, i, torch.zeros(10))
    recent.put(Path("b"), CHECKSUM, 1, torch.zeros(10))
    found = recent.get(Path("a"), CHECKSUM)
    assert found is not None
    assert found[0] == 8


def test_one_that_is_larger_than_the_limit_is_not_kept() -> None:
    recent = RecentTensors(most_bytes=10)
    recent.put(Path("a"), CHECKSUM, 1, torch.zeros(10))
    assert recent.get(Path("a"), CHECKSUM) is None
