"""The server's own data in a run: the rows that a rule may compare the workers' with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from wola.aggregation.view import FROM_REFERENCE
from wola.labels import Terms, checked_terms
from wola.labels.cross_entropy import weighted_cross_entropy
from wola.models import FlatModel
from wola.training.batches import Batch, draw_batches
from wola.training.federation import Federation, loss_of
from wola.training.gradients import make_gradients
from wola.training.scenario import Scenario, ScenarioError, TrainingFields
from wola.training.server_data import DataReference, ServerData
from wola.training.streams import stream_seed

#: The rows that a rule may need of the server, which have momentum as the workers' have.
ROWS = ("mean", "classes")


class ServerReference:
    """A `Reference` of a run: the server computes on its data as the workers do on theirs.

    `mean` is the update of the server as one more worker: its loss, local steps, batches, clipping,
    l2 and momentum are theirs. `classes` are updates of plain cross-entropy on all samples of each
    class, with momentum. What the rule does not need is not computed. Losses and gradients at other
    points are those of all its samples, without l2 or clipping.

    `fields` say how the `workers` n train, towards `q` (C,); `batches` gives the server's batches
    of a round, one for each local step.
    """

    def __init__(
        self,
        fields: TrainingFields,
        data: ServerData,
        model: FlatModel,
        *,
        workers: int,
        q: Tensor,
        needs: frozenset[str],
        batches: Callable[[int], Sequence[Batch]],
    ) -> None:
        self.fields, self.model, self.workers, self.batches = fields, model, workers, batches
        self.data = data.beside(model.parameters)
        self.gradients = make_gradients(model, fields)
        self.lr = fields.lr
        terms = checked_terms(loss_of(fields), data.counts, q)
        self._terms: Terms = terms.to(model.parameters.dtype, model.parameters.device)
        sizes = {"mean": 1, "classes": data.classes}
        self.memory = {
            need: model.parameters.new_zeros(sizes[need], model.size)
            for need in ROWS
            if need in needs
        }

    def advance(self, step: int, lr: float) -> None:
        """Computes the rows of this round from the model as it is, and adds them to the momenta."""
        self.lr = lr
        share = 1 - self.fields.beta
        for need, memory in self.memory.items():
            rows = torch.empty_like(memory)
            if need == "mean":
                self.gradients.updates(self.batches(step), [self.workers], step, lr, rows)
            else:
                for c in range(len(rows)):
                    batches = [self._of_class(c)] * self.fields.local_steps
                    worker = self.workers + 1 + c
                    self.gradients.updates(batches, [worker], step, lr, rows[c : c + 1])
            memory.lerp_(rows, share)

    def _of_class(self, c: int) -> Batch:
        chosen = self.data.labels == c
        weights = self._terms.weights.new_ones(1, self.data.classes)
        return Batch(self.data.inputs[chosen][None], self.data.labels[chosen][None], weights)

    @property
    def finite(self) -> bool:
        """Whether all rows are finite, and their norms too, so that updates can be held to them."""
        largest = torch.finfo(self.model.parameters.dtype).max
        return all(
            bool((torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64) <= largest).all())
            for rows in self.memory.values()
        )

    def mean(self) -> Tensor:
        """The momentum of the server as one more worker, (1, d)."""
        return self.memory["mean"]

    def classes(self) -> Tensor:
        """The momentum of each class, (C, d)."""
        return self.memory["classes"]

    def measure(
        self,
        steps: Iterable[Tensor],
        *,
        samples: int | None = None,
        generator: Generator | None = None,
    ) -> NDArray[np.float64]:
        """Cross-entropy and error rate at theta - lr step for each step (d,): (k, 2).

        With `samples` on so many of the server's, drawn without replacement.
        """
        return self._here().measure(steps, samples=samples, generator=generator)

    def gradient(self, step: Tensor) -> Tensor:
        """The gradient of the server's loss at theta - lr step, (d,)."""
        return self._here().gradient(step)

    def _here(self) -> DataReference:
        terms = self._terms
        return self.data.at(
            self.model,
            self.lr,
            lambda logits, labels: weighted_cross_entropy(
                logits, labels, terms.weights, terms.shifts, terms.margins, terms.factors
            ),
        )

    def state_dict(self) -> dict[str, Any]:
        """The momenta of the server's rows."""
        return {need: memory.clone() for need, memory in self.memory.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        for need, memory in self.memory.items():
            memory.copy_(state[need])


def server_seed(seed: int) -> int:
    """The seed of the server's own batches, which are those of no worker.

    >>> server_seed(1) == server_seed(2)
    False
    """
    return stream_seed(seed, "server") - 2**62


def reference_of(
    scenario: Scenario, federation: Federation, model: FlatModel, needs: frozenset[str]
) -> ServerReference | None:
    """The server's reference in a run of a scenario, if it has data and the rule needs it."""
    data = federation.server
    if data is None or not needs & FROM_REFERENCE:
        return None
    if "classes" in needs:
        check_every_class(data.labels, federation.dataset.classes)
    alone = _as_worker(scenario, federation, data)
    seeded = scenario.model_copy(update={"seed": server_seed(scenario.seed)})
    return ServerReference(
        scenario,
        data,
        model,
        workers=scenario.workers,
        q=federation.q,
        needs=needs,
        batches=lambda step: draw_batches(alone, seeded, [0], step),
    )


def check_every_class(labels: Tensor, names: Iterable[str]) -> None:
    """Refuse data without samples of some class, by name."""
    held = set(labels.tolist())
    missing = [name for c, name in enumerate(names) if c not in held]
    if missing:
        raise ScenarioError(
            f"the server holds no sample of class {', '.join(missing)}; allowed: server_data with "
            "samples of every class, such as equal(samples=100)"
        )


def _as_worker(scenario: Scenario, federation: Federation, data: ServerData) -> Federation:
    """A federation of the server alone, with the workers' objective and loss."""
    counts = data.counts[None]
    terms = checked_terms(loss_of(scenario), counts, federation.q)
    return replace(
        federation,
        inputs=data.inputs,
        labels=data.labels[None],
        shards=[torch.arange(len(data.labels))],
        computing=1,
        counts=counts,
        terms=terms.to(torch.float32, data.inputs.device),
    )
