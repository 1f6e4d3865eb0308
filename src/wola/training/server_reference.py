"""The server's own data in a run: the rows that a rule may compare the workers' with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812

from wola.labels import checked_terms
from wola.labels.cross_entropy import weighted_cross_entropy
from wola.models import FlatModel
from wola.training.batches import Batch, draw_batches
from wola.training.evaluate import logits_of
from wola.training.federation import Federation, ServerData, loss_of
from wola.training.gradients import Gradients
from wola.training.scenario import Scenario, ScenarioError
from wola.training.streams import stream_seed


class ServerReference:
    """A `Reference` of a run: the server computes on its data as the workers do on theirs.

    `mean` is the update of the server as one more worker: its loss, local steps, batches, clipping,
    l2 and momentum are theirs. `classes` are updates of plain cross-entropy on all samples of each
    class, with momentum. What the rule does not need is not computed. Losses and gradients at other
    points are those of all its samples, without l2 or clipping.
    """

    def __init__(
        self,
        scenario: Scenario,
        federation: Federation,
        data: ServerData,
        model: FlatModel,
        gradients: Gradients,
        needs: frozenset[str],
    ) -> None:
        self.scenario, self.data, self.model, self.gradients = scenario, data, model, gradients
        self.lr = scenario.lr
        self._seeded = scenario.model_copy(
            update={"seed": stream_seed(scenario.seed, "server") - 2**62}
        )
        self._federation = _as_worker(scenario, federation, data)
        classes = federation.classes
        sizes = {"mean": 1, "classes": classes}
        self.memory = {
            need: model.parameters.new_zeros(sizes[need], model.size)
            for need in sorted(needs & set(sizes))
        }
        if "classes" in self.memory:
            check_every_class(data.labels, federation.dataset.classes)

    def advance(self, step: int, lr: float) -> None:
        """Computes the rows of this round from the model as it is, and adds them to the momenta."""
        self.lr = lr
        share = 1 - self.scenario.beta
        for need, memory in self.memory.items():
            rows = torch.empty_like(memory)
            if need == "mean":
                batches = draw_batches(self._federation, self._seeded, [0], step)
                self.gradients.updates(batches, [self.scenario.workers], step, lr, rows)
            else:
                for c in range(len(rows)):
                    batches = [self._of_class(c)] * self.scenario.local_steps
                    worker = self.scenario.workers + 1 + c
                    self.gradients.updates(batches, [worker], step, lr, rows[c : c + 1])
            memory.lerp_(rows, share)

    def _of_class(self, c: int) -> Batch:
        chosen = self.data.labels == c
        weights = self._federation.terms.weights.new_ones(1, self._federation.classes)
        return Batch(self.data.inputs[chosen][None], self.data.labels[chosen][None], weights)

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
        inputs, labels = self.data.inputs, self.data.labels.cpu()
        if samples is not None and samples < len(labels):
            chosen = torch.randperm(len(labels), generator=generator)[:samples]
            inputs, labels = inputs[chosen.to(inputs.device)], labels[chosen]
        start, found = self.model.parameters.clone(), []
        for step in steps:
            self.model.load(start - self.lr * step.to(start))
            logits = logits_of(self.model, inputs)
            loss = F.cross_entropy(logits.double(), labels)
            found.append((float(loss), float((logits.argmax(1) != labels).double().mean())))
        self.model.load(start)
        return np.array(found).reshape(-1, 2)

    def gradient(self, step: Tensor) -> Tensor:
        """The gradient of the server's loss at theta - lr step, (d,)."""
        start = self.model.parameters.clone()
        row = torch.empty_like(start)
        self.model.load(start - self.lr * step.to(start))
        self.model.module.eval()
        terms = self._federation.terms.each(lambda part: part[0])
        logits = self.model.module(self.data.inputs)
        loss = weighted_cross_entropy(
            logits, self.data.labels, terms.weights, terms.shifts, margins=terms.margins
        )
        self.model.store_gradients(loss, row)
        self.model.load(start)
        return row

    def state_dict(self) -> dict[str, Any]:
        """The momenta of the server's rows."""
        return {need: memory.clone() for need, memory in self.memory.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        for need, memory in self.memory.items():
            memory.copy_(state[need])


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
    counts = torch.bincount(data.labels.cpu(), minlength=federation.classes)[None]
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
