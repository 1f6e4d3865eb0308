"""The command line that does a run again."""

import shlex
from collections.abc import Mapping
from typing import Any

from wola.parts import part_name
from wola.report.settings import usual_fields
from wola.training import STRATEGIES, Scenario
from wola.training.scenario import PAPER


def command_line(fields: Mapping[str, Any]) -> str:
    """The `wola train` command of a scenario's fields: the dataset and all that is not its default.

    The defaults of that command are the paper's settings for the dataset. A strategy of the paper
    is named, and its fields then go without saying. Texts are quoted for the shell where it needs
    that. Nothing that the fields name is imported or opened.

    >>> command_line(Scenario.paper("digits", strategy="NNM", alpha=0.1, seed=2).model_dump())
    'wola train --dataset digits --strategy NNM --seed 2 --alpha 0.1'
    >>> command_line(Scenario.paper(aggregator="krum(power=1)").model_dump())
    "wola train --dataset digits --aggregator 'krum(power=1)'"
    """
    dataset, strategy = fields["dataset"], _strategy(fields)
    unsaid = {**usual_fields(dataset), **({} if strategy is None else STRATEGIES[strategy])}
    if part_name(dataset) not in PAPER:
        # How data of one's own are divided if nothing is said depends on the data.
        del unsaid["partition"]
    words = ["wola", "train", *_flag("dataset", dataset)]
    if strategy is not None:
        words += _flag("strategy", strategy)
    for name in Scenario.model_fields:
        if name not in unsaid or fields[name] != unsaid[name]:
            words += _flag(name, fields[name])
    return shlex.join(words)


def _strategy(fields: Mapping[str, Any]) -> str | None:
    """The paper's strategy that the fields are, unless it is none at all, the default."""
    named = (name for name, wanted in STRATEGIES.items() if wanted.items() <= fields.items())
    return next((name for name in named if name != "-"), None)


def _flag(name: str, value: Any) -> list[str]:
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    text = "none" if value is None else str(value)
    # A value that begins with a dash would be taken for a flag of its own.
    return [f"--{flag}={text}"] if text.startswith("-") else [f"--{flag}", text]
