"""The numbers of a run that a table can show: what they are called, and which end is good."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Metric:
    """A number of a run: its column, its name in words, its unit, printed digits, the good end.

    `lacking` says why a run may have none.
    """

    column: str
    noun: str
    unit: str = "%"
    digits: int = 1
    lower_is_better: bool = False
    lacking: str = "ended before the first test"

    @property
    def title(self) -> str:
        """What a table of it shows."""
        return f"{self.noun} in {self.unit}" if self.unit else self.noun


#: The metrics by name. Those of the final model are of the last finite one if the run diverged.
METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "accuracy": Metric("accuracy", "accuracy"),
        "final-accuracy": Metric("final_accuracy", "final accuracy"),
        "balanced-accuracy": Metric("balanced_accuracy", "balanced accuracy at the end"),
        "macro-f1": Metric("macro_f1", "macro-F1 at the end"),
        "worst-class": Metric("worst_class", "accuracy of the worst class at the end"),
        "dissimilarity": Metric(
            "dissimilarity_momenta",
            "gradient dissimilarity (of momenta)",
            unit="",
            digits=2,
            lower_is_better=True,
            lacking="no round had honest momenta that were finite",
        ),
        "byzantine-share": Metric(
            "byzantine_share",
            "weight given to Byzantine workers",
            lower_is_better=True,
            lacking="rules that choose by coordinates weigh no worker",
        ),
    }
)


def metric_named(name: str) -> Metric:
    """The metric of a name.

    >>> metric_named("accuracy").title
    'accuracy in %'
    """
    if name not in METRICS:
        raise ValueError(f"metric = {name!r}; allowed: {', '.join(METRICS)}")
    return METRICS[name]
