"""A whole run: rounds, evaluations, checkpoints, and an end with a reason."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any

import torch
from torch import Tensor

from wola.data import Dataset
from wola.training.callbacks import Callback, interruption
from wola.training.checkpoint import Checkpoint
from wola.training.environment import differences, environment
from wola.training.evaluate import confusion, evaluate
from wola.training.federation import Federation, assemble
from wola.training.metrics import Evaluation, StepRecord
from wola.training.result import Result
from wola.training.round import Round
from wola.training.scenario import Scenario


def simulate(
    scenario: Scenario,
    *,
    callbacks: Sequence[Callback] = (),
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
    dataset: Dataset | None = None,
) -> Result:
    """Trains a model over the workers of a scenario, under its attack, and says what happened.

    The same scenario gives the same bits every time, in any process, resumed or not, on machines
    with the same instruction set and versions (`Result.environment`). With a `checkpoint` the run
    saves itself every few steps, and at a Ctrl-C, which then ends it between two rounds;
    `resume=True` goes on from the file if there is one. A run whose model, loss or honest updates
    are no longer finite ends there, with the last model that could be tested. A `dataset` takes
    the place of the one that the scenario names, and the result says so.

    >>> result = simulate(Scenario.paper("iris", steps=20, strategy="WoLA", attack="foe"))
    >>> result.ending, [evaluation.step for evaluation in result.evaluations]
    ('finished', [10, 20])
    """
    _keep_freed_memory()
    if dataset is not None and dataset.origin != scenario.dataset:
        scenario = scenario.changed(dataset=dataset)
    with _threads(scenario.threads):
        content = scenario.content()
        federation = assemble(scenario, dataset)
        run = _Run(scenario, federation, callbacks, content)
        saved = checkpoint.load(scenario) if checkpoint is not None and resume else None
        if checkpoint is not None and saved is not None:
            with checkpoint.reading():
                run.load_state_dict(saved)
        return run.to_the_end(checkpoint)


class _Run:
    def __init__(
        self,
        scenario: Scenario,
        federation: Federation,
        callbacks: Sequence[Callback],
        content: dict[str, str],
    ) -> None:
        self.content = content
        self.scenario, self.federation, self.callbacks = scenario, federation, callbacks
        self.round = Round(scenario, federation)
        self.steps: list[StepRecord] = []
        self.evaluations: list[Evaluation] = []
        self.ending: str | None = None
        self.environment, self.notes = environment(scenario.device), federation.notes
        self.good = self._model()

    def to_the_end(self, checkpoint: Checkpoint | None) -> Result:
        """All rounds that are left."""
        for callback in self.callbacks:
            callback.on_start(self.scenario, self.federation, len(self.steps))
        with interruption() as request:
            while self.ending is None and len(self.steps) < self.scenario.steps:
                self.advance()
                due = checkpoint is not None and len(self.steps) % checkpoint.every == 0
                if checkpoint is not None and (due or request.asked):
                    checkpoint.save(self.scenario, self.state_dict())
                if request.asked:
                    raise KeyboardInterrupt
        result = self.result()
        for callback in self.callbacks:
            callback.on_end(result)
        return result

    def advance(self) -> None:
        """One round, and the test of the model where it is due."""
        step = len(self.steps) + 1
        record = self.round.take(step)
        self.steps.append(record)
        for callback in self.callbacks:
            callback.on_step(record)
        if reason := self._broken(record):
            self._end(f"diverged at step {step}: {reason}")
        elif step % self.scenario.evaluate_every == 0 or step == self.scenario.steps:
            self._test(step)

    def _broken(self, record: StepRecord) -> str | None:
        if not bool(self.round.model.parameters.isfinite().all()):
            return "the model is not finite"
        # The dissimilarity costs nothing more, and tells whether a closer look is worth it.
        if not isfinite(record.dissimilarity_momenta):
            honest = self.round.momenta[: self.scenario.honest]
            if not bool(honest.isfinite().all(1).any()):
                return "no honest update is finite"
        return None

    def _test(self, step: int) -> None:
        evaluation = evaluate(self.round.model, self.federation.test, step)
        self.evaluations.append(evaluation)
        for callback in self.callbacks:
            callback.on_evaluation(evaluation)
        if isfinite(evaluation.loss):
            self.good = self._model()
        else:
            self._end(f"diverged at step {step}: the loss is not finite")

    def _end(self, reason: str) -> None:
        self.ending = reason
        self.round.model.load(*self.good)

    def _model(self) -> tuple[Tensor, Tensor]:
        model = self.round.model
        return model.parameters.clone(), model.statistics.clone()

    def result(self) -> Result:
        """The run so far."""
        federation, model = self.federation, self.round.model
        model.reset_counters()
        return Result(
            scenario=self.scenario,
            steps=self.steps,
            evaluations=self.evaluations,
            state=model.state_dict(),
            confusion=confusion(model, federation.test, federation.classes),
            classes=federation.dataset.classes,
            q=federation.q,
            counts=federation.counts,
            notes=(*self.notes, *self._told()),
            ending=self.ending or "finished",
            content=self.content,
            data=federation.dataset.digest(),
            mix=federation.mix,
            environment=self.environment,
        )

    def _told(self) -> list[str]:
        attack = self.round.attack
        told = attack.ending() if attack is not None else None
        return [] if told is None else [told]

    def state_dict(self) -> dict[str, Any]:
        """All that the rest of the run depends on, as tensors and plain values."""
        return {
            "round": self.round.state_dict(),
            "steps": [dict(vars(record)) for record in self.steps],
            "evaluations": [dict(vars(evaluation)) for evaluation in self.evaluations],
            "ending": self.ending,
            "good": list(self.good),
            "notes": list(self.notes),
            "environment": self.environment,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        self.round.load_state_dict(state["round"])
        self.steps = [StepRecord(**record) for record in state["steps"]]
        self.evaluations = [Evaluation(**evaluation) for evaluation in state["evaluations"]]
        self.ending = state["ending"]
        parameters, statistics = state["good"]
        self.good = (parameters, statistics)
        self.notes = tuple(state["notes"])
        if differing := differences(state["environment"], self.environment):
            self.notes += (f"continued in another environment: {differing}",)


def _keep_freed_memory() -> None:
    # A block of this size, once freed, makes the C library of Linux keep what is freed later
    # instead of handing it back: without it a third of a convolution's time is page faults. It
    # looks at blocks below 32 MiB only.
    torch.empty(31 * 2**20, dtype=torch.uint8)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
