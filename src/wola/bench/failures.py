"""Runs that failed: a record of each, with how often and the end of its log."""

from pathlib import Path
from typing import Any

from wola.ground.files import remove_file, write_whole
from wola.ground.sealed import sealed, sealed_or_left_out
from wola.training import Scenario

#: How much of a failed run's log is kept, in characters.
LOG_END = 20_000

Failure = dict[str, Any]


def write_failure(folder: Path, key: str, scenario: Scenario, log: str) -> None:
    """Records one more failure of a run: key, tries, its record, log."""
    before = read_failure(folder, key)
    made = {
        "key": key,
        "tries": 1 if before is None else before["tries"] + 1,
        "record": scenario.record(),
        "log": log[-LOG_END:],
    }
    write_whole(_file(folder, key), sealed(made))


def read_failure(folder: Path, key: str) -> Failure | None:
    """What is recorded of a run; None if nothing is, or, with a warning, nothing but damage."""
    made = sealed_or_left_out(_file(folder, key))
    return made if made is not None and made.get("key") == key else None


def failed_scenario(failure: Failure) -> Scenario:
    """The scenario of a run that failed; nothing that it names is imported."""
    return Scenario.stored(failure["record"]["fields"])


def forget_failure(folder: Path, key: str) -> None:
    """Takes the record away, if there is one."""
    remove_file(_file(folder, key))


def failed_keys(folder: Path) -> list[str]:
    """The runs that have a record."""
    return sorted(path.stem for path in folder.glob("*.json"))


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key}.json"
