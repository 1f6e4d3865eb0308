"""Which scenario is meant: a TOML file or a run folder, then the flags that override it."""

import json
import tomllib
from pathlib import Path
from typing import Any

from wola.cli.faults import Refused, known
from wola.training import STRATEGIES, RunFolder, Scenario
from wola.training.registry import strategy_named


def settle(base: dict[str, Any], strategy: str | None, flags: dict[str, Any]) -> Scenario:
    """The scenario of ``base`` fields, a strategy that replaces what they say, then the flags.

    Fields that nobody names are the paper's for the dataset. ``base`` may name a strategy too.

    >>> settle({"mixing": "bucketing", "steps": 9}, "NNM", {"lr": 0.5}).mixing
    'nnm'
    """
    if strategy is not None:
        known("--strategy", strategy.lower(), [name.lower() for name in STRATEGIES])
        replaced = {"strategy", *STRATEGIES[strategy_named(strategy)]}
        base = {k: v for k, v in base.items() if k not in replaced} | {"strategy": strategy}
    return Scenario.paper(**{**base, **flags})


def read_toml(path: Path) -> dict[str, Any]:
    """The fields of a scenario file: one value each."""
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Refused(f"{path} does not exist; allowed: a TOML file with a scenario") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Refused(f"{path} is no TOML file: {error}") from None
    for name, value in fields.items():
        if not isinstance(value, str | bool | int | float):
            raise Refused(f"{path}: {name} = {value!r}; allowed: one value, as a scenario is flat")
    if not isinstance(fields.get("strategy", ""), str):
        raise Refused(f"{path}: strategy = {fields['strategy']!r}; allowed: a name")
    return fields


def kept_scenario(folder: RunFolder) -> Scenario | None:
    """The scenario whose run the folder holds; None if it holds none."""
    path = folder.path / "scenario.json"
    if not path.exists():
        return None
    try:
        return folder.scenario()
    except (UnicodeDecodeError, ValueError, TypeError) as error:
        raise Refused(f"{path} holds no scenario: {error}") from None


def check_same(folder: RunFolder, scenario: Scenario) -> None:
    """Refuse to put a run into a folder that holds another one."""
    kept = kept_scenario(folder)
    if kept is None or kept == scenario:
        return
    there, here = kept.model_dump(), scenario.model_dump()
    differing = ", ".join(
        f"{name} = {json.dumps(there[name])} there and {json.dumps(here[name])} here"
        for name in here
        if there[name] != here[name]
    )
    raise Refused(
        f"--out = {str(folder.path)!r} holds another run ({differing}); allowed: a folder of its "
        "own for each scenario"
    )


def folder_name(scenario: Scenario) -> str:
    """A name that tells runs apart at a glance, and for certain by the start of their key.

    >>> folder_name(Scenario.paper("digits"))[:31]
    'digits-plain-trimmed-mean-alie-'
    """
    strategy = {"-": "plain", None: "own"}.get(scenario.strategy, str(scenario.strategy).lower())
    parts = (scenario.dataset, strategy, scenario.aggregator, scenario.attack, scenario.key()[:8])
    return "-".join(parts)
