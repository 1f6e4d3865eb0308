"""How things are called and in what order they come: in tables, pictures and on the page."""

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from wola.training import STRATEGIES

DATASETS = {
    "mnist": "MNIST",
    "fashion-mnist": "Fashion MNIST",
    "cifar10": "CIFAR10",
    "purchase100": "Purchase100",
    "digits": "digits",
    "iris": "iris",
}

AGGREGATORS = {
    "mean": "Mean",
    "median": "CWMed",
    "trimmed-mean": "CwTM",
    "geometric-median": "GM",
    "multi-krum": "MKrum",
    "krum": "Krum",
}

ATTACKS = {"alie": "ALIE", "foe": "FOE", "lf": "LF", "mimic": "Mimic", "sf": "SF"}

_LONGEST = 60

_LOSSES = {"cross-entropy": "", "wola": "WoLA", "wola-batch": "WoLA-batch"}
_MIXINGS = {"nnm": "NNM", "bucketing": "BKT", "foundation-fl": "FoundFL", "arc": "ARC"}


def title(name: str) -> str:
    """The name of a dataset, aggregator or attack as the paper writes it.

    >>> title("alie"), title("trimmed-mean"), title("min-max")
    ('ALIE', 'CwTM', 'min-max')
    """
    return {**DATASETS, **AGGREGATORS, **ATTACKS}.get(name, name)


def strategy_name(fields: Mapping[str, Any]) -> str:
    """What a scenario's fields are called as a strategy, one of the paper's or not.

    >>> from wola.training import Scenario
    >>> strategy_name(Scenario(loss="wola", mixing="arc+nnm", objective="uniform").model_dump())
    'WoLA(uniform)+ARC+NNM'
    """
    for name, wanted in STRATEGIES.items():
        if wanted.items() <= fields.items():
            return name
    loss = _LOSSES[fields["loss"]]
    details = []
    if loss and fields["objective"] != "prior":
        rule = fields["objective_rule"]
        details = [fields["objective"], *([rule] if fields["objective"] == "shared" else [])]
    if loss and fields["objective_attack"] != "none":
        details.append(fields["objective_attack"])
    loss += f"({', '.join(details)})" if details else ""
    mixed = [] if fields["mixing"] == "none" else fields["mixing"].split("+")
    return "+".join([loss] * bool(loss) + [_MIXINGS.get(part, part) for part in mixed]) or "-"


def uses_wola(strategy: str) -> bool:
    """Whether a strategy trains with the WoLA loss.

    >>> uses_wola("WoLA-dagger+NNM"), uses_wola("NNM")
    (True, False)
    """
    return strategy.startswith("WoLA")


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Each name once: the known ones in the order given there, then the others by alphabet.

    >>> in_order(["WoLA", "own", "-"], STRATEGIES)
    ['-', 'WoLA', 'own']
    """
    order = {name: place for place, name in enumerate(known)}
    return sorted(set(names), key=lambda name: (order.get(name, len(order)), name))


def file_word(text: str) -> str:
    """Text as part of a file's name; with a hash if it is long or would look like another.

    >>> file_word("steps 20, lr_period 5"), file_word("data_source A")
    ('steps-20-lr-period-5', 'data-source-a-7fe8fe')
    """
    word = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")
    if len(word) <= _LONGEST and re.fullmatch(r"[a-z0-9., _-]*", text):
        return word
    return f"{word[:_LONGEST]}-{sha256(text.encode()).hexdigest()[:6]}"
