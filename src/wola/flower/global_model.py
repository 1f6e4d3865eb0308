"""The model that all clients train: its vectors, the server's optimiser, and one step of it."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

import torch
from flwr.app import ArrayRecord
from torch import Tensor, nn

from wola.aggregation import CoordinateMedian, Rule, View
from wola.aggregation.view import NO_MEMORY, NOTHING_KNOWN, Memory
from wola.flower.ledger import finite_or_none
from wola.flower.recipe import Recipe
from wola.flower.reply_checks import Update
from wola.models import FlatModel
from wola.training.metrics import spread
from wola.training.order import in_rows, shuffled
from wola.training.registry import PARTS
from wola.training.server import ServerOptimiser
from wola.training.streams import stream


@dataclass(frozen=True)
class ServerStep:
    """What a step was: see `RoundRecord`; `memory` is what the rule keeps of it."""

    skipped: str | None = None
    weights: tuple[float, ...] | None = None
    dissimilarity: float | None = None
    norm: float | None = None
    memory: Memory = field(default_factory=lambda: NO_MEMORY)


class GlobalModel:
    """The parameters (d,), the running statistics (s,) and the optimiser; the verb is `step`.

    The module is copied; `flat` is its `FlatModel`.
    """

    def __init__(self, module: nn.Module, recipe: Recipe) -> None:
        self.recipe = recipe
        self.flat = FlatModel(deepcopy(module))
        self.server = self._new_server()

    def step(
        self,
        updates: Sequence[Update],
        f: int,
        rule: Rule,
        round_number: int,
        view: View = NOTHING_KNOWN,
    ) -> ServerStep:
        """Aggregates the updates, of which at most `f` are Byzantine, and moves the model.

        The updates come in ascending order of their nodes, whoever was first, and so does `view`,
        what the server knows beside them; rule and median see them in an order drawn anew in each
        round, the engine's. Whatever stands in the way (too few updates for the rule, a model that
        would not be finite) leaves everything as it was, and is the reason in `skipped`.
        """
        try:
            rule.check(len(updates), f)
        except ValueError as error:
            return ServerStep(skipped=str(error))
        order = shuffled(len(updates), seed=self.recipe.seed, step=round_number)
        seen = [updates[i] for i in order.tolist()]
        rows = torch.stack([each.update for each in seen])
        dissimilarity = finite_or_none(spread(rows)[1])
        generator = stream(self.recipe.seed, "rule", round_number)
        try:
            bound = rule.at(view.of_rows(order.tolist()))
            outcome = in_rows(bound.aggregate(rows, f, generator), order)
        except (ArithmeticError, RuntimeError, ValueError) as error:
            return ServerStep(skipped=f"the rule failed: {error}", dissimilarity=dissimilarity)
        parameters, memory = self.flat.parameters.clone(), self.server.state_dict()
        lr = self.recipe.learning_rate(round_number)
        self.server.step(self.flat.parameters, outcome.update, lr)
        if not bool(self.flat.parameters.isfinite().all()):
            self.flat.load(parameters)
            self.server.load_state_dict(memory)
            reason = "the model would not be finite"
            return ServerStep(skipped=reason, dissimilarity=dissimilarity)
        if self.flat.statistics.numel():
            blocks = torch.stack([each.statistics for each in seen])
            self.flat.statistics.copy_(CoordinateMedian()(blocks, f))
        weights = None if outcome.weights is None else tuple(outcome.weights.tolist())
        norm = finite_or_none(float(torch.linalg.vector_norm(outcome.update)))
        return ServerStep(None, weights, dissimilarity, norm, outcome.memory)

    def arrays(self) -> ArrayRecord:
        """The module's state as Flower's apps know it: a record of named arrays."""
        return ArrayRecord(self.flat.state_dict())

    def load_arrays(self, arrays: ArrayRecord) -> None:
        """Loads a state as `arrays` gives it; a ValueError if it is another model's."""
        try:
            state = arrays.to_torch_state_dict()
            with torch.no_grad():
                self.flat.module.load_state_dict(state)
        except RuntimeError as error:
            raise ValueError(f"initial_arrays do not fit the model: {error}") from error

    def load(
        self, parameters: Tensor, statistics: Tensor, memory: Mapping[str, Tensor] | None = None
    ) -> None:
        """Writes both vectors, and the optimiser's memory; without one it starts afresh."""
        self.flat.load(parameters, statistics)
        self.server = self._new_server()
        if memory is not None:
            self.server.load_state_dict(memory)

    def _new_server(self) -> ServerOptimiser:
        device = self.flat.parameters.device
        server: ServerOptimiser = PARTS.make("server", self.recipe.server)(
            self.flat.size, device=device
        )
        return server
