"""Mimic of one worker."""

import pytest
import torch

from tests.attacks.sample import honest_updates
from wola.attacks import MimicStatic


def test_it_copies_its_worker():
    honest = honest_updates(4, 3)
    assert torch.equal(MimicStatic(worker=2)(honest, 2), honest[2].expand(2, -1))


def test_for_a_broken_worker_it_takes_the_next():
    honest = honest_updates(4, 3)
    honest[3, 0] = float("nan")
    assert torch.equal(MimicStatic(worker=3)(honest, 1)[0], honest[0])
    honest[1, 0] = float("inf")
    assert torch.equal(MimicStatic(worker=1)(honest, 1)[0], honest[2])


def test_writing_into_the_rows_leaves_the_mimicked_worker_alone():
    honest = honest_updates(4, 3)
    before = honest.clone()
    MimicStatic()(honest, 1).zero_()
    assert torch.equal(honest, before)


def test_a_worker_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="worker = 4 with h = 4 honest workers; allowed: 0 to 3"):
        MimicStatic(worker=4)(honest_updates(4, 3), 1)


@pytest.mark.parametrize(
    ("worker", "error"), [(-1, ValueError), (1.0, TypeError), (True, TypeError)]
)
def test_a_wrong_worker_is_named(worker, error):
    with pytest.raises(error, match=f"worker = {worker}.*; allowed: an int >= 0"):
        MimicStatic(worker=worker)
