"""Whether a scenario can be run, decided from its fields alone, and said in one line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

import torch
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from wola.aggregation.view import FROM_REFERENCE
from wola.ground.names import nearest
from wola.parts import part_name

if TYPE_CHECKING:
    from wola.training.scenario import Scenario


def explained(error: ValidationError, model: type[BaseModel]) -> str:
    """What is wrong, one line per field: its name, its value and what is allowed."""
    fields, kind = model.model_fields, model.__name__.lower()
    lines = []
    for problem in error.errors(include_url=False):
        name = ".".join(map(str, problem["loc"]))
        if problem["type"] == "value_error":
            lines.append(str(problem["ctx"]["error"]))
        elif problem["type"] == "extra_forbidden":
            lines.append(f"{name} is no field of a {kind}; {_wrong_name(name, fields)}")
        elif problem["type"] == "literal_error":
            value = problem["input"]
            names = get_args(fields[name].annotation)
            lines.append(f"{name} = {value!r}; {_wrong_name(str(value), names)}")
        else:
            allowed = problem["msg"].replace("Input should be ", "")
            lines.append(f"{name} = {problem['input']!r}; allowed: {allowed}")
    return "\n".join(lines)


def refuse_truths(fields: Any, known: Mapping[str, FieldInfo]) -> Any:
    """The fields, unless one that holds a number is given as true or false."""
    for name, value in dict(fields).items():
        if isinstance(value, bool) and name in known and known[name].annotation is not bool:
            raise ValueError(f"{name} = {str(value).lower()}; allowed: {_wanted(known[name])}")
    return fields


def _wanted(field: FieldInfo) -> str:
    kinds = get_args(field.annotation) or (field.annotation,)
    words = {int: "a whole number", float: "a number", str: "a text"}
    return " or ".join(words.get(kind, "none") for kind in kinds)


def _wrong_name(name: str, names: Iterable[str]) -> str:
    try:
        return nearest(name, names)
    except ValueError as error:
        return str(error)


def check_names(scenario: Scenario) -> None:
    """Refuse a device that PyTorch does not know."""
    try:
        torch.device(scenario.device)
    except RuntimeError:
        raise ValueError(
            f"device = {scenario.device!r}; allowed: cpu, cuda, cuda:1, ... as PyTorch names them"
        ) from None


def check_worker_counts(scenario: Scenario) -> None:
    """Refuse numbers of workers that the rule, or a round, cannot work with."""
    n, f = scenario.workers, scenario.byzantine
    if 2 * f >= n:
        raise ValueError(f"byzantine = {f}; allowed with workers = {n}: 0 to {(n - 1) // 2}")
    if scenario.participants is not None and scenario.participants > n:
        raise ValueError(
            f"participants = {scenario.participants}; allowed with workers = {n}: 1 to {n}"
        )
    if "mimic-variance" in scenario.attack and scenario.round_counts()[0] < n:
        raise ValueError(
            f"attack = {scenario.attack!r} with participants = {scenario.participants}; allowed: "
            f"all {n} workers, since it follows one worker from round to round"
        )
    c, told = scenario.round_counts()
    rule = scenario.rule()
    if rule.needs & FROM_REFERENCE and scenario.server_data == "none":
        raise ValueError(
            f"aggregator = {scenario.aggregator!r} needs data of the server's own; allowed: "
            "server_data = 'equal(samples=100)', 'prior(...)' or 'skewed(...)'"
        )
    if part_name(scenario.partition) == "indices" and scenario.server_data != "none":
        raise ValueError(
            f"server_data = {scenario.server_data!r} with partition = {scenario.partition!r}; "
            "allowed: a partition that does not name samples, since the server takes some away"
        )
    try:
        rule.check(c, told)
    except ValueError as error:
        raise ValueError(
            f"aggregator = {scenario.aggregator!r} with mixing = {scenario.mixing!r}: {error}"
        ) from None


def check_class_count(scenario: Scenario, classes: int) -> None:
    """Refuse a rule that cannot work with as many classes as the data have."""
    present, told = scenario.round_counts()
    try:
        scenario.rule().check_classes(present, told, classes)
    except ValueError as error:
        raise ValueError(
            f"aggregator = {scenario.aggregator!r} with mixing = {scenario.mixing!r}: {error}"
        ) from None
