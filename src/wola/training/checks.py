"""Whether a scenario can be run, decided from its fields alone, and said in one line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, get_args

import torch
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from wola.ground.names import nearest
from wola.training.registry import (
    AGGREGATORS,
    ATTACKS,
    LABEL_ATTACKS,
    MIXINGS,
    OBJECTIVE_ATTACKS,
    make_rule,
)

if TYPE_CHECKING:
    from wola.training.scenario import Scenario


def explained(error: ValidationError, fields: Mapping[str, FieldInfo]) -> str:
    """What is wrong, one line per field: its name, its value and what is allowed."""
    lines = []
    for problem in error.errors(include_url=False):
        name = ".".join(map(str, problem["loc"]))
        if problem["type"] == "value_error":
            lines.append(str(problem["ctx"]["error"]))
        elif problem["type"] == "extra_forbidden":
            lines.append(f"{name} is no field of a scenario; {_wrong_name(name, fields)}")
        elif problem["type"] == "literal_error":
            value = problem["input"]
            names = get_args(fields[name].annotation)
            lines.append(f"{name} = {value!r}; {_wrong_name(str(value), names)}")
        else:
            allowed = problem["msg"].replace("Input should be ", "")
            lines.append(f"{name} = {problem['input']!r}; allowed: {allowed}")
    return "\n".join(lines)


def _wrong_name(name: str, names: Iterable[str]) -> str:
    try:
        return nearest(name, names)
    except ValueError as error:
        return str(error)


def check_names(scenario: Scenario, datasets: Iterable[str], models: Iterable[str]) -> None:
    """Refuse a name that stands for nothing, with the nearest one that stands for something."""
    _check(scenario, "dataset", datasets)
    _check(scenario, "aggregator", AGGREGATORS)
    _check(scenario, "attack", ["none", *ATTACKS, *LABEL_ATTACKS])
    _check(scenario, "objective_attack", ["none", *OBJECTIVE_ATTACKS])
    if ":" not in scenario.model:
        _check(scenario, "model", ["auto", *models])
    _check_parts(scenario, "mixing", scenario.mixing.split("+"), ["none", *MIXINGS])
    if "+" in scenario.mixing and "none" in scenario.mixing.split("+"):
        raise ValueError(f"mixing = {scenario.mixing!r}; allowed: 'none' alone, not in a chain")
    *mixings, aggregator = scenario.objective_rule.split("+")
    _check_parts(scenario, "objective_rule", mixings, MIXINGS)
    alone = [] if mixings else ["paper"]
    _check_parts(scenario, "objective_rule", [aggregator], [*alone, *AGGREGATORS])
    if scenario.dataset in ("npz", "folder") and scenario.data_source is None:
        raise ValueError(
            f"data_source = None; allowed with dataset = {scenario.dataset!r}: the path of your "
            "data"
        )
    try:
        torch.device(scenario.device)
    except RuntimeError:
        raise ValueError(
            f"device = {scenario.device!r}; allowed: cpu, cuda, cuda:1, ... as PyTorch names them"
        ) from None


def check_counts(scenario: Scenario) -> None:
    """Refuse numbers of workers that the rule, or a round, cannot work with."""
    n, f = scenario.workers, scenario.byzantine
    if 2 * f >= n:
        raise ValueError(f"byzantine = {f}; allowed with workers = {n}: 0 to {(n - 1) // 2}")
    if scenario.participants is not None and scenario.participants > n:
        raise ValueError(
            f"participants = {scenario.participants}; allowed with workers = {n}: 1 to {n}"
        )
    if scenario.attack == "mimic-variance" and scenario.round_counts()[0] < n:
        raise ValueError(
            f"attack = 'mimic-variance' with participants = {scenario.participants}; allowed: all "
            f"{n} workers, since it follows one worker from round to round"
        )
    rule = make_rule(scenario.aggregator, mixing=scenario.mixing, definitions=scenario.definitions)
    c, told = scenario.round_counts()
    try:
        rule.check(c, told)
    except ValueError as error:
        raise ValueError(
            f"aggregator = {scenario.aggregator!r} with mixing = {scenario.mixing!r}: {error}"
        ) from None


def _check(scenario: Scenario, field: str, names: Iterable[str]) -> None:
    _check_parts(scenario, field, [getattr(scenario, field)], names)


def _check_parts(
    scenario: Scenario, field: str, parts: Iterable[str], names: Iterable[str]
) -> None:
    allowed = list(names)
    for part in parts:
        try:
            nearest(part, allowed)
        except ValueError as error:
            raise ValueError(f"{field} = {getattr(scenario, field)!r}; {error}") from None
