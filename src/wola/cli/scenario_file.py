"""Which scenario is meant: a TOML file or a run folder, then the flags that override it."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wola.cli.errors import Refused, known
from wola.cli.flags import flag_name
from wola.ground.sealed import Damaged
from wola.parts import GrammarError, parse, part_name, written
from wola.training import PARTS, STRATEGIES, RunFolder, Scenario, strategy_named


def settle(base: Mapping[str, Any], strategy: str | None, flags: Mapping[str, Any]) -> Scenario:
    """The scenario of ``base`` fields, a strategy that replaces what they say, then the flags.

    Fields that nobody names are the paper's for the dataset. ``base`` may name a strategy too. A
    flag that contradicts ``strategy``, or a field of the base that contradicts the base's own, is
    refused.

    >>> settle({"mixing": "bucketing", "steps": 9}, "NNM", {"lr": 0.5}).mixing
    'nnm'
    >>> settle({}, "NNM", {"mixing": "arc"})
    Traceback (most recent call last):
    ...
    wola.cli.errors.Refused: --mixing = 'arc' contradicts --strategy = 'NNM', which sets \
mixing = nnm; allowed: one of the two
    """
    base = dict(base)
    if strategy is not None:
        known("--strategy", strategy.lower(), [name.lower() for name in STRATEGIES])
        name = strategy_named(strategy)
        _refuse_contradictions(flags, name, flagged=True)
        replaced = {"strategy", *STRATEGIES[name]}
        base = {k: v for k, v in base.items() if k not in replaced} | {"strategy": name}
    elif "strategy" in base:
        known("strategy", base["strategy"].lower(), [name.lower() for name in STRATEGIES])
        _refuse_contradictions(base, strategy_named(base["strategy"]), flagged=False)
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
            raise Refused(
                f"{path}: {name} = {value!r}; allowed: one value for each field; a grid is for "
                "`wola bench`"
            )
    if not isinstance(fields.get("strategy", ""), str):
        raise Refused(f"{path}: strategy = {fields['strategy']!r}; allowed: a name")
    return fields


def kept_scenario(folder: RunFolder) -> Scenario | None:
    """The scenario whose run the folder holds, to be run again; None if it holds none."""
    if _kept_record(folder) is None:
        return None
    try:
        return folder.scenario()
    except TypeError as error:
        raise Refused(f"{folder.path / 'scenario.json'} holds no scenario: {error}") from None


def check_same(folder: RunFolder, scenario: Scenario) -> None:
    """Refuse to put a run into a folder that holds another one."""
    kept = _kept_record(folder)
    record = scenario.record()
    if kept is None or kept == record:
        return
    there, here = Scenario.stored(kept["fields"]).model_dump(), scenario.model_dump()
    differing = [
        f"{name} = {json.dumps(there[name])} there and {json.dumps(here[name])} here"
        for name in here
        if there[name] != here[name]
    ]
    names = sorted({*kept["content"], *record["content"]})
    changed = [n for n in names if kept["content"].get(n) != record["content"].get(n)]
    differing += [] if differing else [f"{name} has changed since" for name in changed]
    reason = ", ".join(differing) or "made by another version of wola"
    raise Refused(
        f"--out = {str(folder.path)!r} holds another run ({reason}); allowed: a folder of its own "
        "for each scenario"
    )


def folder_name(scenario: Scenario) -> str:
    """A name that tells runs apart at a glance, and for certain by the start of their key.

    >>> folder_name(Scenario.paper("digits"))[:31]
    'digits-plain-trimmed-mean-alie-'
    """
    strategy = {"-": "plain", None: "own"}.get(scenario.strategy, str(scenario.strategy).lower())
    parts = map(part_name, (scenario.dataset, scenario.aggregator, scenario.attack))
    dataset, aggregator, attack = (re.sub(r"[^\w.+-]+", "-", part) for part in parts)
    return "-".join((dataset, strategy, aggregator, attack, scenario.key()[:8]))


def _refuse_contradictions(fields: Mapping[str, Any], name: str, *, flagged: bool) -> None:
    for field, value in STRATEGIES[name].items():
        source, text = field, fields.get(field)
        if field == "mixing" and text is None:
            source, text = "aggregator", _mixings_of(fields.get("aggregator"))
        if text is None or PARTS.settle(field, text) == value:
            continue
        said, strategy = (flag_name(source), "--strategy") if flagged else (source, "strategy")
        raise Refused(
            f"{said} = {fields[source]!r} contradicts {strategy} = {name!r}, which sets {field} = "
            f"{value}; allowed: one of the two"
        )


def _mixings_of(aggregator: Any) -> str | None:
    """The mixings that stand before an aggregator in its text, if there are any."""
    try:
        calls = parse(aggregator) if isinstance(aggregator, str) else ()
    except GrammarError:
        return None
    return "+".join(map(written, calls[:-1])) or None


def _kept_record(folder: RunFolder) -> dict[str, Any] | None:
    path = folder.path / "scenario.json"
    try:
        record = folder.record()
        Scenario.stored(record["fields"])
        dict(record["content"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except Damaged as error:
        raise Refused(f"{error}; allowed: the folder of a run, or a new one") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Refused(f"{path} holds no scenario: {error!r}") from None
    return record
