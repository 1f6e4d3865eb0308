"""The partition that the data bring along: one worker per client."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from wola.data.dataset import Dataset
from wola.data.partition import Partition, check_workers


@dataclass(frozen=True)
class Clients(Partition):
    """Every client of the data is a worker, and holds the samples that are its own.

    The data give n, one worker per client. Which f of them are Byzantine is drawn; it depends on
    the generator and on where in the data a client first occurs, not on what clients are called.
    The honest workers come first, each group in the order of the clients. The test set stays as
    it is.

    Needs: data that say which client a sample is from.

    Cost: one sort of the clients.

    Draws: which clients are Byzantine.

    Reference: none, the data's own.

    >>> clients = torch.tensor([0, 1, 2, 0, 2])
    >>> Clients().partition(
    ...     torch.tensor([0, 1, 0, 1, 1]), honest=3, clients=clients, generator=torch.Generator())
    [tensor([0, 3]), tensor([1]), tensor([2, 4])]
    """

    def partition(
        self,
        labels: Tensor,
        *,
        honest: int,
        byzantine: int = 0,
        classes: int | None = None,
        clients: Tensor | None = None,
        generator: Generator,
    ) -> list[Tensor]:
        """The indices of each client, honest ones first: see :class:`Partition`."""
        if clients is None:
            raise ValueError(
                "clients = None; allowed with the partition clients: data that say whom each "
                "sample belongs to"
            )
        if clients.shape != labels.shape:
            raise ValueError(
                f"clients has shape {tuple(clients.shape)}; allowed: {tuple(labels.shape)}, that "
                "of the labels"
            )
        shards = [torch.nonzero(clients == client).flatten() for client in torch.unique(clients)]
        n = len(shards)
        if n < 2 * byzantine + 1:
            raise ValueError(
                f"byzantine = {byzantine}; allowed with {n} clients: 0 to {(n - 1) // 2}"
            )
        check_workers(labels, honest=honest, byzantine=byzantine, classes=classes)
        if n != honest + byzantine:
            raise ValueError(
                f"honest + byzantine = {honest + byzantine}; allowed: {n}, the clients of the data"
            )
        appearance = sorted(range(n), key=lambda client: int(shards[client][0]))
        drawn = torch.randperm(n, generator=generator, device=generator.device)[:byzantine]
        liars = {appearance[place] for place in drawn.tolist()}
        order = sorted(range(n), key=lambda client: client in liars)
        return [shards[client] for client in order]

    def workers(self, dataset: Dataset) -> int:
        """As many as the dataset has clients, each of which needs a training sample."""
        if dataset.clients is None:
            raise ValueError(
                f"dataset = {dataset.name!r}, which names no clients; allowed with the partition "
                "clients: data that say whom each sample belongs to"
            )
        counts = torch.bincount(dataset.clients, minlength=len(dataset.client_names))
        empty = [n for n, c in zip(dataset.client_names, counts.tolist(), strict=False) if c == 0]
        if empty:
            raise ValueError(
                f"client {empty[0]!r} of {dataset.name!r} has 0 training samples; allowed: at "
                "least one, so give a test set or leave the client out"
            )
        return len(counts)

    def describe(self) -> str:
        """One line that says what the partition means."""
        return "every worker is a client of the data, with the samples that are its own"
