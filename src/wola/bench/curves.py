"""The numbers of a run as curves, whatever draws them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import isfinite

from wola.training import Callback, Evaluation, StepRecord


class TrackerRefused(RuntimeError):
    """A tracker that is installed and cannot be used; the message says why and what is allowed."""


class Curves(Callback, ABC):
    """Takes accuracy and loss at every test, and what is measured at every step.

    A subclass says where the points go.
    """

    @abstractmethod
    def add(self, points: Mapping[str, float], step: int) -> None:
        """Adds the points of a step to their curves; all are finite."""

    def on_step(self, record: StepRecord) -> None:
        """Adds the points of a round."""
        self._add_finite(
            {
                "dissimilarity/gradients": record.dissimilarity_gradients,
                "dissimilarity/momenta": record.dissimilarity_momenta,
                "cosine": record.cosine,
                "lr": record.lr,
            },
            record.step,
        )

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Adds the points of a test."""
        self._add_finite(
            {"accuracy": evaluation.accuracy, "loss": evaluation.loss}, evaluation.step
        )

    def _add_finite(self, values: Mapping[str, float | None], step: int) -> None:
        points = {name: v for name, v in values.items() if v is not None and isfinite(v)}
        if points:
            self.add(points, step)
