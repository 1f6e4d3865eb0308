"""What the words of the page mean: a line each, from the docstrings of what they stand for."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wola.parts import Call, GrammarError, parse, part_name
from wola.training import PARTS, Scenario

#: Words of the page that no docstring explains.
WORDS = {
    "accuracy": "Right answers in percent of the test set, averaged over the tests made during "
    "training.",
    "worst": "Accuracy under the attack that hurts most: for each aggregator the attack with the "
    "lowest mean over seeds, averaged over aggregators.",
    "gain": "Points of accuracy above the best strategy without the WoLA loss in the same column.",
    "final": "Accuracy of the model at the end of training.",
    "dissimilarity": "How far the honest workers' momenta are from their mean: the mean squared "
    "distance. The lower, the more liars stand out.",
    "cosine": "Cosine of the angle between the aggregate and the mean of the honest workers: 1 is "
    "the same direction, 0 has nothing in common, -1 is the opposite.",
    "weight": "The share that each worker's update has in the aggregate. Coordinate-wise rules "
    "have none.",
    "balanced": "Mean over the classes of the accuracy on each: every class counts the same, "
    "however rare.",
    "macro-f1": "Mean over the classes of F1, the harmonic mean of precision and recall.",
    "worst-class": "Accuracy on the class that the final model knows least.",
    "ending": "How the run ended: finished, or why it stopped. Tests after an early end count with "
    "the last model that was finite.",
    "sd": "Standard deviation (n - 1) over seeds, in parentheses.",
    "strategy": "What is done against the attack beside the rule: the workers' loss and what runs "
    "before the rule.",
    "dagger": "† marks an objective that is not known beforehand but estimated from what the "
    "workers report, while Byzantine workers lie about it.",
    "byzantine worker": "A worker that may send anything at all, to do harm or because it is "
    "broken.",
    "key": "The name of the run in its store.",
}

#: What the paper's strategies without a part of their own are.
_ALONE = "The rule alone: plain cross-entropy, and nothing before the rule."

_STRATEGY_FIELDS = ("loss", "objective", "objective_attack", "mixing")
_UNSAID = {"cross-entropy", "prior", "none"}


def glossary(
    values: Mapping[str, Iterable[str]], strategies: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The lines of the page: about `fields` of a scenario, `values` by field, and other `words`.

    `values` are the texts of parts by field, `strategies` the fields of each strategy. A part of
    one's own is not imported, so all that is said of it is where it is from.

    >>> glossary({"attack": ["foe(epsilon=0.5)"]}, {})["values"]["attack"]["foe(epsilon=0.5)"]
    'Fall of empires: -epsilon times the mean of the honest updates. (epsilon=0.5)'
    """
    parts = {
        name: {text: part_line(name, text) for text in texts} for name, texts in values.items()
    }
    named = {name: strategy_line(name, fields) for name, fields in strategies.items()}
    return {
        "fields": {**field_lines(), "strategy": WORDS["strategy"]},
        "values": {**parts, "strategy": named},
        "words": WORDS,
    }


def field_lines() -> dict[str, str]:
    """A line about every field of a scenario, as its command line has it.

    >>> field_lines()["f"]
    'Byzantine workers, f, fewer than half.'
    """
    lines = {name: info.description or "" for name, info in Scenario.model_fields.items()}
    return {**{name: _plain(line) for name, line in lines.items() if line}, "f": lines["byzantine"]}


def part_line(field: str, text: str) -> str:
    """What the parts of a text do: the first lines of their docstrings, and their parameters."""
    known = PARTS.kinds.get(field)
    if known is None:
        return ""
    try:
        calls: Sequence[Call] = parse(text)
    except GrammarError:
        return text
    described = known.described()
    return " ".join(_call_line(described, call) for call in calls)


def strategy_line(name: str, fields: Mapping[str, Any]) -> str:
    """What a strategy does: a line about each of its parts, and the other fields that it sets.

    >>> strategy_line("NNM", {"loss": "cross-entropy", "mixing": "nnm"})
    'Replace each update by the mean of the n - f updates nearest to it, itself included.'
    """
    lines = [
        part_line(field, str(fields[field]))
        for field in _STRATEGY_FIELDS
        if field in fields and fields[field] not in _UNSAID
    ]
    others = [
        f"{field} {value}" for field, value in fields.items() if field not in _STRATEGY_FIELDS
    ]
    if "dagger" in name:
        lines.append(WORDS["dagger"])
    if others:
        lines.append(f"Sets {', '.join(others)}.")
    return " ".join(lines) or _ALONE


def _call_line(described: Mapping[str, str], call: Call) -> str:
    arguments = ", ".join(f"{key}={value}" if key else str(value) for key, value in call.arguments)
    shown = f" ({arguments})" if arguments else ""
    if call.own:
        return f"A part of one's own: {call.name}{shown}."
    return f"{_plain(described.get(part_name(call.name), call.name))}{shown}"


def _plain(line: str) -> str:
    """A line without the marks of its markup."""
    return re.sub(r":math:|`", "", line)
