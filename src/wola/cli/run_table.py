"""A run in a few lines, as `wola train` and `wola runs show` tell it."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from wola.data import LabelMix
from wola.ground.names import counted
from wola.training import Scenario

#: A label mix that has moved by less, in total variation, is not worth a line.
SMALLEST_SHIFT = 0.005


def run_table(summary: Mapping[str, Any], scenario: Scenario) -> Table:
    """How a run ended, how well the model does, how far workers differed."""
    seconds = sum(summary["seconds"].values())
    rows = {
        "scenario": f"{scenario.dataset}, {scenario.byzantine} of {scenario.workers} Byzantine, "
        f"{scenario.attack} against {_defence(scenario)}",
        "ending": summary["ending"],
        "accuracy": f"{_number(summary['accuracy'], '.2f')} %, mean of {_tests(summary)}; "
        f"{_number(summary['final_accuracy'], '.2f')} % at the end",
        "weakest class": _weakest(summary),
        "labels": moved_labels(summary),
        "dissimilarity": f"{_number(summary['dissimilarity_momenta'], '.4g')} of momenta, "
        f"{_number(summary['dissimilarity_gradients'], '.4g')} of gradients",
        "cosine": f"{_number(summary['cosine'], '.3f')} between aggregate and honest mean",
        "dropped": f"{summary['dropped']} updates, {summary['skipped']} rounds skipped",
        "time": f"{seconds:.1f} s, {1000 * seconds / max(1, summary['steps']):.1f} ms a step",
    }
    table = Table(box=None, show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        if value:
            table.add_row(name, Text(value))
    return table


def _tests(summary: Mapping[str, Any]) -> str:
    real, after = summary["tests"], summary["tests_after_end"]
    more = f" and {after} more with the last good model" if after else ""
    return f"{counted(real, 'test')} over training{more}"


def moved_labels(summary: Mapping[str, Any]) -> str:
    """What dividing the data did to the mix of labels; nothing if hardly anything.

    >>> moved_labels({"label_mix": {"train": [0.5, 0.5], "workers": [0.9, 0.1],
    ...                             "test": [0.5, 0.5], "tested": [0.5, 0.5]}})
    "the workers' mix differs from the data's by 0.40 (total variation), the test set's by 0.00"
    """
    kept = summary.get("label_mix")
    if not kept:
        return ""
    mix = LabelMix(*(tuple(kept[name]) for name in ("train", "workers", "test", "tested")))
    if max(mix.train_shift, mix.test_shift) <= SMALLEST_SHIFT:
        return ""
    return mix.describe().removeprefix("labels: ")


def _defence(scenario: Scenario) -> str:
    named = scenario.strategy
    if named is None:
        named = f"{scenario.loss}, {scenario.objective} objective, mixing {scenario.mixing}"
    return scenario.aggregator if named == "-" else f"{scenario.aggregator} with {named}"


def _weakest(summary: Mapping[str, Any]) -> str:
    known = [
        (value, name)
        for name, value in zip(summary["classes"], summary["class_accuracies"], strict=True)
        if value is not None
    ]
    return f"{min(known)[1]}, {min(known)[0]:.1f} % at the end" if known else "-"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
