"""One round of training, as the paper's algorithm has it: robust distributed heavy ball."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from wola.aggregation import CoordinateMedian, Outcome, Rule, TooFewUpdates, View
from wola.aggregation.view import NO_MEMORY, Memory, frozen
from wola.attacks import Attack
from wola.models import FlatModel, build, model_for
from wola.parts import part_name
from wola.training.batches import draw_batches
from wola.training.federation import Federation
from wola.training.gradients import make_gradients
from wola.training.metrics import StepRecord, Stopwatch, cosine, spread
from wola.training.order import in_rows, worker_places
from wola.training.registry import PARTS
from wola.training.reports import lies_of
from wola.training.scenario import Scenario
from wola.training.server import ServerOptimiser
from wola.training.server_reference import reference_of
from wola.training.streams import stream


class Round:
    """All that lives from round to round, and the verb that takes one: ``take(step)``.

    `momenta` (n, d) holds the honest workers' momenta in its first h rows; the last f hold what the
    Byzantine workers send, or momenta too where they compute on data of their own: label attackers
    send them, attackers with partial knowledge make what they send from them. The server's rule
    sees the rows in the scenario's `order`; records tell of the workers by their own numbers.
    Running statistics of batch normalisation travel as a block of their own, attacked like the
    momenta, except that no attack observes them, and aggregated by the coordinate-wise median.
    """

    def __init__(self, scenario: Scenario, federation: Federation) -> None:
        self.scenario, self.federation = scenario, federation
        module = build(
            model_factory(scenario.model, scenario.dataset),
            name=scenario.model,
            shape=federation.dataset.sample_shape,
            classes=federation.classes,
            generator=stream(scenario.seed, "initialisation"),
        )
        self.model = FlatModel(module, scenario.device)
        self.rule: Rule = scenario.rule()
        self.attack, self.statistics_attack = self._new_attack(), self._new_attack()
        self.lies = lies_of(scenario)
        self.server: ServerOptimiser = PARTS.make("server", scenario.server)(
            self.model.size, device=scenario.device
        )
        self.gradients = make_gradients(self.model, scenario)
        self.reference = reference_of(scenario, federation, self.model, self.rule.needs)
        self.momenta = self.model.parameters.new_zeros(scenario.workers, self.model.size)
        self.memory = self.momenta.new_zeros(federation.computing, self.model.size)
        self.kept: Memory = NO_MEMORY
        self.watch = Stopwatch()

    def _new_attack(self) -> Attack | None:
        attack = PARTS.make("attack", self.scenario.attack)
        return attack.fresh() if isinstance(attack, Attack) else None

    def take(self, step: int) -> StepRecord:
        """Broadcast, gradients, momenta, attack, mixing and rule, step; what was measured."""
        scenario, watch = self.scenario, self.watch
        lr = scenario.learning_rate(step)
        present, computing, honest = self.participants(step)
        self.meet(present[:honest])
        with watch("batches"):
            batches = draw_batches(self.federation, scenario, computing, step)
        with watch("gradients"):
            gradients = self.memory[: len(computing)]
            statistics = self.gradients.updates(batches, computing, step, lr, gradients)
        with watch("metrics"):
            dissimilarity = spread(gradients[:honest])[1]
        with watch("step"):
            sent = self.sent(present, computing, gradients)
        if self.reference is not None:
            with watch("gradients"):
                self.reference.advance(step, lr)
        view = View(self.reference, self.reports(present), present, self.kept)
        with watch("attack"):
            self.corrupt(sent, honest, step, view)
            view = self.told(view, sent, honest)
        with watch("rule"):
            outcome = self.aggregate(sent, honest, step, view)
        with watch("metrics"):
            mean, dissimilarity_momenta = spread(sent[:honest])
            angle = None if outcome is None else cosine(outcome.update, mean)
        with watch("step"):
            if outcome is not None:
                self.kept = outcome.memory
                self.move(outcome.update, lr)
                self.share_statistics(statistics, honest, len(present), step)
        dropped = () if outcome is None else outcome.dropped
        return StepRecord(
            step=step,
            lr=lr,
            dissimilarity_gradients=dissimilarity,
            dissimilarity_momenta=dissimilarity_momenta,
            cosine=angle,
            weights=None if outcome is None else self._over_all(outcome, present),
            dropped=tuple(self.name(present[i]) for i in dropped),
            skipped=outcome is None,
            seconds=watch.taken(),
        )

    def name(self, worker: int) -> str:
        """What a worker is called in the records."""
        kind = "honest" if worker < self.scenario.honest else "byzantine"
        return f"{kind}-{worker}"

    def participants(self, step: int) -> tuple[list[int], list[int], int]:
        """The workers of a round, those of them that compute, and how many are honest."""
        n, c = self.scenario.workers, self.scenario.round_counts()[0]
        present = list(range(n))
        if c < n:
            drawn = torch.randperm(n, generator=stream(self.scenario.seed, "participants", step))
            present = sorted(drawn[:c].tolist())
        computing = [worker for worker in present if worker < self.federation.computing]
        return present, computing, sum(worker < self.scenario.honest for worker in present)

    def meet(self, honest: Sequence[int]) -> None:
        """The attackers learn which honest workers take part."""
        for attack in (self.attack, self.statistics_attack):
            if attack is not None:
                attack.meet(honest)

    def sent(self, present: Sequence[int], computing: Sequence[int], gradients: Tensor) -> Tensor:
        """m_i <- beta m_i + (1 - beta) g_i for those that compute; the matrix (c, d) sent."""
        share = 1 - self.scenario.beta
        if len(present) == len(self.momenta):
            self.momenta[: len(computing)].lerp_(gradients, share)
            partial = self.attack is not None and self.attack.partial_knowledge
            return self.momenta.clone() if partial else self.momenta
        rows = torch.tensor(computing, device=gradients.device, dtype=torch.int64)
        self.momenta[rows] = self.momenta[rows].lerp_(gradients, share)
        return self.momenta[torch.tensor(present, device=gradients.device)]

    def corrupt(self, sent: Tensor, honest: int, step: int, view: View) -> None:
        """Writes what the attackers send to the rows after the honest ones, in place."""
        generator = stream(self.scenario.seed, "attack", step)
        rows = range(honest + _attackers_that_decide(len(sent), honest))
        _corrupt(self.attack, sent, honest, self.rule.at(view.of_rows(rows)), generator)

    def reports(self, present: Sequence[int]) -> Tensor | None:
        """The label distributions that these workers reported, (c, C), if the rule reads them."""
        return self.federation.reports[present] if "labels" in self.rule.needs else None

    def told(self, view: View, sent: Tensor, honest: int) -> View:
        """The view with what the attackers say of their labels once they know what they send."""
        if self.lies is None or view.labels is None:
            return view
        reports = torch.as_tensor(view.labels)
        lies = self.lies.told(reports, sent, honest)
        return replace(view, labels=torch.cat([reports[:honest], lies]))

    def aggregate(self, sent: Tensor, honest: int, step: int, view: View) -> Outcome | None:
        """What the server's rule makes of the momenta; None if too few of them are finite.

        None as well if the server's own rows are not: there is nothing to hold the momenta to.
        """
        if self.reference is not None and not self.reference.finite:
            return None
        told, order = self.scenario.round_counts()[1], self.order(len(sent), honest, step)
        generator = stream(self.scenario.seed, "rule", step)
        try:
            # The copy in another order takes 1 ms of the 400 of a round of the paper's
            # Fashion-MNIST setting.
            rule = self.rule.at(view.of_rows(order.tolist()))
            outcome = rule.aggregate(_rows(sent, order), told, generator)
        except TooFewUpdates:
            return None
        return in_rows(outcome, order)

    def move(self, aggregate: Tensor, lr: float) -> None:
        """The server's step; the attackers see how the model moved."""
        parameters = self.model.parameters
        if self.attack is None:
            self.server.step(parameters, aggregate, lr)
            return
        before = parameters.clone()
        self.server.step(parameters, aggregate, lr)
        self.attack.observe(parameters - before, lr)

    def order(self, present: int, honest: int, step: int) -> Tensor:
        """Which row of what was sent the server's rule sees at each place, (present,)."""
        scenario, byzantine = self.scenario, present - honest
        return worker_places(
            scenario.order, honest=honest, byzantine=byzantine, seed=scenario.seed, step=step
        )

    def share_statistics(self, blocks: Tensor, honest: int, present: int, step: int) -> None:
        """Sets the running statistics to the coordinate-wise median of the blocks (m, s)."""
        if not blocks.numel():
            return
        rule, told = CoordinateMedian(), self.scenario.round_counts()[1]
        sent = blocks.new_zeros(present, blocks.shape[1])
        sent[: len(blocks)] = blocks
        generator = stream(self.scenario.seed, "statistics", step)
        _corrupt(self.statistics_attack, sent, honest, rule, generator)
        try:
            order = self.order(present, honest, step)
            self.model.statistics.copy_(rule(_rows(sent, order), told))
        except TooFewUpdates:
            return

    def state_dict(self) -> dict[str, Any]:
        """All that later rounds depend on: copies, as tensors and plain values."""
        attacks = (self.attack, self.statistics_attack)
        return {
            "parameters": self.model.parameters.clone(),
            "statistics": self.model.statistics.clone(),
            "momenta": self.momenta.clone(),
            "server": self.server.state_dict(),
            "attacks": [attack.state_dict() if attack else {} for attack in attacks],
            "reference": self.reference.state_dict() if self.reference else {},
            "kept": dict(self.kept),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        self.model.load(state["parameters"], state["statistics"])
        self.momenta.copy_(state["momenta"])
        self.server.load_state_dict(state["server"])
        self.kept = frozen(state["kept"])
        if self.reference is not None:
            self.reference.load_state_dict(state["reference"])
        for attack, memory in zip(
            (self.attack, self.statistics_attack), state["attacks"], strict=True
        ):
            if attack is not None:
                attack.load_state_dict(memory)

    def _over_all(self, outcome: Outcome, present: Sequence[int]) -> tuple[float, ...] | None:
        if outcome.weights is None:
            return None
        weights = [0.0] * self.scenario.workers
        for worker, weight in zip(present, outcome.weights.tolist(), strict=True):
            weights[worker] = weight
        return tuple(weights)


def model_factory(model: str, dataset: str) -> Callable[[Sequence[int], int], nn.Module]:
    """What makes the model of a settled text: for "auto" the dataset's own."""
    text = model_for(part_name(dataset)) if model == "auto" else model
    factory: Callable[[Sequence[int], int], nn.Module] = PARTS.make("model", text)
    return factory


def _rows(sent: Tensor, order: Tensor) -> Tensor:
    return sent.index_select(0, order.to(sent.device))


def _attackers_that_decide(present: int, honest: int) -> int:
    # With few participants the attackers may happen to be no minority. No attack is defined there:
    # as many as would be one decide what all send; beside one honest worker they copy it, and
    # among themselves they send zeros.
    return max(0, min(present - honest, honest - 1))


def _corrupt(
    attack: Attack | None, sent: Tensor, honest: int, rule: Rule, generator: torch.Generator
) -> None:
    if attack is None or len(sent) == honest:
        return
    minority = _attackers_that_decide(len(sent), honest)
    if not minority:
        sent[honest:] = sent[0] if honest else 0.0
        return
    own = sent[honest : honest + minority] if attack.partial_knowledge else None
    rows = attack(sent[:honest], minority, rule, generator, own)
    sent[honest : honest + minority] = rows
    sent[honest + minority :] = rows[-1]
