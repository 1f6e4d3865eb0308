"""What the server knows beside the updates: its own rows, label reports, the rule's memory."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import torch
from flwr.app import Message
from torch import Tensor

from wola.aggregation import View
from wola.aggregation.view import FROM_REFERENCE, NO_MEMORY, Memory
from wola.flower.checkpoint import Kept
from wola.flower.collect import Collected, RefusedReply
from wola.flower.local_training import NotFinite, local_batches, loss_terms
from wola.flower.reply_checks import Expected, LabelReport, Update, read_update
from wola.flower.samples import TensorSamples
from wola.flower.settings import StrategySettings
from wola.flower.votes import Signed
from wola.models import FlatModel
from wola.training import ServerData
from wola.training.batches import Batch
from wola.training.evaluate import logits_of
from wola.training.federation import loss_of
from wola.training.server_reference import ServerReference, server_seed


def client_name(node: int, reply: Signed) -> str | int:
    """What a rule calls a client: its public key in hexadecimal where it signs, else its node.

    >>> client_name(1001, LabelReport(torch.ones(1)))
    1001
    >>> client_name(1001, LabelReport(torch.ones(1), b"key"))
    '6b6579'
    """
    return node if reply.key is None else reply.key.hex()


class ServerKnowledge:
    """What the server knows in a run: what makes of its rule an ordinary one in each round.

    `reports` are the label distributions (C,) that clients reported, by name, `memory` what the
    rule kept of the last round with a step. `reference` is made of the server's data when q is
    known; its rows are computed as a client's are and have momentum as theirs have, in every round
    that clients compute in, whether the model then moves or not.
    """

    def __init__(self, settings: StrategySettings, model: FlatModel) -> None:
        self.settings, self.model = settings, model
        self.needs = settings.aggregation_rule.needs
        self.reports: dict[str | int, Tensor] = {}
        self.memory: Memory = NO_MEMORY
        self.reference: ServerReference | None = None
        self._rows: dict[str | int, Tensor] = {}
        if settings.reference is not None and self.needs & FROM_REFERENCE:
            self._check_model(settings.reference)

    def keep_reports(self, collected: Collected[LabelReport]) -> None:
        """Keeps what the clients reported in the query, and nothing of an earlier one."""
        reports = collected.accepted.items()
        self.reports = {client_name(node, each): each.distribution for node, each in reports}

    def read_update(self, node: int, reply: Message, expected: Expected) -> Update:
        """The update of a train reply; a client whose labels the rule needs must have reported."""
        update = read_update(node, reply, expected)
        if "labels" in self.needs and client_name(node, update) not in self.reports:
            reason = "it did not report its labels in the query, and the rule needs them"
            raise RefusedReply(reason, update.key)
        return update

    def advance(self, step: int, q: Tensor) -> None:
        """Computes the server's own rows of a round, towards q (C,), from the model as it is."""
        if self.settings.reference is None or not self.needs & FROM_REFERENCE:
            return
        reference = self._made(q)
        before = reference.state_dict()
        reference.advance(step, self.settings.recipe.learning_rate(step))
        if not reference.finite:
            reference.load_state_dict(before)
            raise NotFinite("not finite")

    def view(self, updates: Mapping[int, Update]) -> View:
        """What the server knows beside the updates of these nodes, in their order."""
        names = [client_name(node, update) for node, update in updates.items()]
        labels = None
        if "labels" in self.needs and names:
            labels = torch.stack([self.reports[name] for name in names])
        return View(self.reference, labels, names, self.memory)

    def state_dict(self) -> Kept:
        """All that later rounds depend on: copies, since a view would take its whole with it."""
        rows = self._rows
        if self.reference is not None:
            rows = dict(self.reference.state_dict().items())
        kinds = {"memory": self.memory, "reports": self.reports, "rows": rows}
        return {
            kind: {name: values.clone() for name, values in kept.items()}
            for kind, kept in kinds.items()
        }

    def load_state_dict(self, state: Kept) -> None:
        """Go on from what `state_dict` gave."""
        self.memory = MappingProxyType(state["memory"])
        self.reports, self._rows = state["reports"], state["rows"]
        self.reference = None

    def _made(self, q: Tensor) -> ServerReference:
        if self.reference is not None:
            return self.reference
        settings, data = self.settings, self.settings.reference
        assert data is not None
        labels, like = data.labels.cpu(), self.model.parameters
        samples = TensorSamples(data.inputs, labels)
        terms = loss_terms(loss_of(settings.recipe), labels, q)

        def batches(step: int) -> list[Batch]:
            orders = settings.recipe.orders(step)
            orders = replace(orders, seed=server_seed(orders.seed))
            return local_batches(
                samples, labels, orders, terms=terms, worker=0, step=step, like=like
            )

        self.reference = ServerReference(
            settings.recipe,
            data,
            self.model,
            workers=settings.n,
            q=q,
            needs=self.needs,
            batches=batches,
        )
        if self._rows:
            self.reference.load_state_dict({str(row): kept for row, kept in self._rows.items()})
        return self.reference

    def _check_model(self, data: ServerData) -> None:
        """Refuse data that the model does not take, before any node is asked."""
        sample, classes = data.beside(self.model.parameters).inputs[:1], self.settings.classes
        shape = tuple(sample.shape[1:])
        try:
            made = logits_of(self.model, sample)
        except RuntimeError as error:
            raise ValueError(
                f"reference has inputs of shape {shape}, which the model does not take: {error}"
            ) from error
        if made.shape != (1, classes):
            raise ValueError(
                f"the model makes {tuple(made.shape)} of one sample of the reference; allowed: "
                f"(1, {classes}), one logit per class"
            )
