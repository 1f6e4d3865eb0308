"""What a run has shown: its records, the final model, and a summary."""

import math
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib import import_module
from statistics import fmean
from typing import Any

import polars as pl
from torch import Tensor

from wola.data import LabelMix
from wola.training.evaluate import class_accuracies
from wola.training.metrics import PHASES, Evaluation, StepRecord
from wola.training.scenario import SEMANTICS, Scenario, record_key


@dataclass(frozen=True, eq=False)
class Result:
    """A run: a record per step, evaluations, the model's `state` by name, how it ended.

    `confusion` (C, C) counts how often class i of the test set was taken for class j by the final
    model; `q` (C,) is the objective, `counts` (n, C) the samples per worker and class. `ending` is
    "finished", or says why the run stopped. `content` holds SHA-256 of the user's own data and
    sources as they were when the run began, `data` that of the samples it was trained on;
    `environment` says where it was computed, and is no part of the digest.
    """

    scenario: Scenario
    steps: list[StepRecord]
    evaluations: list[Evaluation]
    state: dict[str, Tensor]
    confusion: Tensor
    classes: tuple[str, ...]
    q: Tensor
    counts: Tensor
    notes: tuple[str, ...]
    ending: str
    content: dict[str, str]
    data: str
    mix: LabelMix
    environment: dict[str, str]

    def __repr__(self) -> str:
        """The run in three lines."""
        s, tests, after = self.scenario, len(self.evaluations), self.tests_after_end
        counted = (
            f"{tests} tests over training"
            if not after
            else (f"{tests} tests over training and {after} more with the final model")
        )
        return (
            f"Result: {s.dataset}, {s.attack} by {s.byzantine} of {s.workers} workers against "
            f"{s.aggregator}, {s.strategy or s.loss}, seed {s.seed}\n"
            f"  accuracy {self.accuracy:.2f} %, mean of {counted}; "
            f"{self.final_accuracy:.2f} % at the end\n"
            f"  {self.ending}; .frame(), .summary(), .plot(), .state"
        )

    def record(self) -> dict[str, Any]:
        """What makes the run what it is: see `Scenario.record`."""
        fields = self.scenario.differing()
        return {"semantics": SEMANTICS, "fields": fields, "content": self.content}

    @property
    def accuracy(self) -> float:
        """Test accuracy averaged over the evaluations of training, in percent.

        Evaluations that would have come after the end of a run that diverged count with the
        accuracy of the final model, so that no run is averaged over fewer than the others.
        """
        tested = [evaluation.accuracy for evaluation in self.evaluations]
        return fmean(tested + [self.final_accuracy] * self.tests_after_end)

    @property
    def tests_after_end(self) -> int:
        """How many evaluations of the scenario would have come after the end of the run."""
        planned = -(-self.scenario.steps // self.scenario.evaluate_every)
        return planned - len(self.evaluations)

    @property
    def final_accuracy(self) -> float:
        """Test accuracy of the final model, in percent."""
        return 100.0 * int(self.confusion.diagonal().sum()) / int(self.confusion.sum())

    @property
    def byzantine_share(self) -> float | None:
        """Share of all weight that Byzantine workers received, in percent, averaged over rounds.

        Some rules' weights do not sum to 1, or are negative: what counts is their size. None if
        there are no such workers, or no round in which any worker has a weight.
        """
        byzantine = self.scenario.byzantine
        sizes = [list(map(abs, record.weights)) for record in self.steps if record.weights]
        weighed = [weights for weights in sizes if any(weights)]
        if not byzantine or not weighed:
            return None
        return 100.0 * fmean(
            math.fsum(weights[-byzantine:]) / math.fsum(weights) for weights in weighed
        )

    @property
    def seconds(self) -> dict[str, float]:
        """Wall time by phase over the whole run."""
        total = {phase: math.fsum(r.seconds[phase] for r in self.steps) for phase in PHASES}
        return {**total, "evaluation": math.fsum(e.seconds for e in self.evaluations)}

    def summary(self) -> dict[str, Any]:
        """The run in plain values, fit for JSON: what is not finite is None."""
        made: dict[str, Any] = {
            "key": record_key(self.record()),
            "semantics": SEMANTICS,
            "strategy": self.scenario.strategy,
            "ending": self.ending,
            "accuracy": self.accuracy,
            "final_accuracy": self.final_accuracy,
            "tests": len(self.evaluations),
            "tests_after_end": self.tests_after_end,
            "steps": len(self.steps),
            "skipped": sum(record.skipped for record in self.steps),
            "dropped": sum(len(record.dropped) for record in self.steps),
            "classes": list(self.classes),
            "class_accuracies": class_accuracies(self.confusion),
            "byzantine_share": self.byzantine_share,
            "confusion": self.confusion.tolist(),
            "objective": self.q.tolist(),
            "counts": self.counts.tolist(),
            "notes": list(self.notes),
            "data": self.data,
            "label_mix": {
                **asdict(self.mix),
                "train_shift": self.mix.train_shift,
                "test_shift": self.mix.test_shift,
            },
            "seconds": self.seconds,
            "digest": self.digest(),
            "environment": dict(self.environment),
        }
        for name in ("dissimilarity_gradients", "dissimilarity_momenta", "cosine"):
            values = [getattr(record, name) for record in self.steps]
            finite = [v for v in values if v is not None and math.isfinite(v)]
            made[name] = fmean(finite) if finite else None
        return {k: _finite(v) for k, v in made.items()}

    def frame(self) -> pl.DataFrame:
        """One row per step; accuracy and loss where the model was tested, else null."""
        at = {evaluation.step: evaluation for evaluation in self.evaluations}
        tested = [at.get(record.step) for record in self.steps]
        timed = {f"seconds_{p}": [record.seconds[p] for record in self.steps] for p in PHASES}
        columns = {
            **{name: [getattr(record, name) for record in self.steps] for name in _PLAIN},
            **timed,
            "accuracy": [found.accuracy if found else None for found in tested],
            "loss": [found.loss if found else None for found in tested],
            "seconds_evaluation": [found.seconds if found else 0.0 for found in tested],
        }
        return pl.DataFrame({name: columns[name] for name in _SCHEMA}, schema=_SCHEMA)

    def plot(self, *, style: Any = "screen") -> Any:
        """A matplotlib figure of the run: accuracy, dissimilarity and the weights of workers.

        `style` is a text such as "paper(width=6.9)" or "slides", or a `FigureStyle`.
        """
        # Found by name: the room that draws comes after this one.
        styled = import_module("wola.report.figure_style").figure_style(style)
        return import_module("wola.report.run_figure").run_figure(self, style=styled)

    def digest(self) -> str:
        """SHA-256 of the model and of all that was measured but time: the bits of the run."""
        made = sha256()
        for name, tensor in sorted(self.state.items()):
            made.update(name.encode())
            made.update(tensor.contiguous().numpy().tobytes())
        for item in (*self.steps, *self.evaluations):
            values = {k: v for k, v in vars(item).items() if k != "seconds"}
            made.update(repr(values).encode())
        return made.hexdigest()


_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "step": pl.Int64,
    "lr": pl.Float64,
    "dissimilarity_gradients": pl.Float64,
    "dissimilarity_momenta": pl.Float64,
    "cosine": pl.Float64,
    "dropped": pl.List(pl.String),
    "skipped": pl.Boolean,
    "weights": pl.List(pl.Float32),
    "accuracy": pl.Float64,
    "loss": pl.Float64,
    **{f"seconds_{phase}": pl.Float64 for phase in (*PHASES, "evaluation")},
}
_PLAIN = (
    "step",
    "lr",
    "dissimilarity_gradients",
    "dissimilarity_momenta",
    "cosine",
    "dropped",
    "skipped",
    "weights",
)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
