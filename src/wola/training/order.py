"""The order in which the server's rule sees the workers: it carries nothing."""

from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from wola.aggregation import Outcome
from wola.training.streams import stream

#: Drawn anew in each round; or fixed, to see what a rule makes of the order.
Order = Literal["shuffled", "byzantine-first", "byzantine-last"]


def shuffled(count: int, *, seed: int, step: int) -> Tensor:
    """Which of `count` workers, counted in ascending order of their names, stands at each place.

    Drawn from the stream ("order", step), whatever the order in which their updates arrived.

    >>> shuffled(4, seed=1, step=1), shuffled(4, seed=1, step=2)
    (tensor([1, 3, 2, 0]), tensor([1, 0, 2, 3]))
    """
    return torch.randperm(count, generator=stream(seed, "order", step))


def worker_places(order: Order, *, honest: int, byzantine: int, seed: int, step: int) -> Tensor:
    """Which row stands at each place, of rows that hold the honest workers first.

    >>> worker_places("byzantine-first", honest=3, byzantine=2, seed=1, step=1)
    tensor([3, 4, 0, 1, 2])
    """
    count = honest + byzantine
    if order == "shuffled":
        return shuffled(count, seed=seed, step=step)
    rows = torch.arange(count)
    return rows.roll(byzantine) if order == "byzantine-first" else rows


def in_rows(outcome: Outcome, order: Tensor) -> Outcome:
    """An outcome for rows that were seen in an `order` (n,), told of the rows as they are.

    >>> seen = Outcome(torch.zeros(4), torch.tensor([0.5, 0.5, 0.0]), (2,))
    >>> told = in_rows(seen, torch.tensor([2, 0, 1]))
    >>> told.weights, told.dropped
    (tensor([0.5000, 0.0000, 0.5000]), (1,))
    """
    weights = outcome.weights
    if weights is not None:
        weights = torch.empty_like(weights).index_copy_(0, order.to(weights.device), weights)
    dropped = tuple(sorted(int(order[i]) for i in outcome.dropped))
    return replace(outcome, weights=weights, dropped=dropped)
