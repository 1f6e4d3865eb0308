"""Runs that coincide: scenarios that differ in name alone, and the one that stands for them."""

import json
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from wola.ground.files import write_whole
from wola.ground.sealed import Damaged, DamagedFile
from wola.mixing import Bucketing, Mixing
from wola.parts import Unimportable, part_name
from wola.training import PARTS, Scenario
from wola.training.scenario import record_key

#: Attacks whose updates are dropped, so that the rule meets fewer workers than were counted here.
_DROPPED = ("nan", "infinite")

Reading = tuple[dict[str, Any], str]


def representative(scenario: Scenario) -> Scenario:
    """The scenario that stands for all that coincide with this one; often itself.

    Coinciding scenarios make the same computations: buckets of one worker are no mixing, a trimmed
    mean of n - 2f = 1 values is the median, nobody attacks when f = 0, and a field that the rest
    of the scenario leaves unread does not count.

    >>> plain = Scenario.paper("digits", strategy="-", byzantine=6)
    >>> representative(plain.with_strategy("BKT")) == plain
    True
    """
    changes: dict[str, Any] = {}
    for fields, _ in _readings(scenario):
        changes |= fields
    return scenario.changed(**changes) if changes else scenario


def reasons(scenario: Scenario) -> tuple[str, ...]:
    """Why the scenario coincides with its representative, a line for each difference.

    >>> reasons(Scenario(aggregator="trimmed-mean", byzantine=8))
    ('the trimmed mean of 17 - 2 x 8 = 1 values is the median',)
    """
    return tuple(reason for _, reason in _readings(scenario))


def coinciding(scenarios: Iterable[Scenario]) -> dict[Scenario, list[Scenario]]:
    """The runs that are needed, each with the scenarios it answers, in the order they came.

    >>> grid = [Scenario.paper(strategy=name, byzantine=8) for name in ("-", "BKT", "NNM")]
    >>> [len(answered) for answered in coinciding(grid).values()]
    [2, 1]
    """
    made: dict[str, tuple[Scenario, list[Scenario]]] = {}
    for scenario in scenarios:
        run = representative(scenario)
        made.setdefault(run.to_json(), (run, []))[1].append(scenario)
    return dict(made.values())


def write_coincidences(folder: Path, pairs: Iterable[tuple[Scenario, Scenario]]) -> None:
    """Writes down which scenarios another one's run answers: key, run, reasons and record."""
    rows = []
    for scenario, run in pairs:
        if run is not scenario:
            record = scenario.record()
            row = {"key": record_key(record), "run": run.key(), "reasons": reasons(scenario)}
            rows.append({**row, "record": record})
    if rows:
        content = json.dumps(rows).encode() + b"\n"
        # Named by what it says: two processes with one grid write the same file.
        path = folder / f"{sha256(content).hexdigest()}.json"
        if not path.exists():
            write_whole(path, content)


def read_coincidences(folder: Path) -> dict[str, dict[str, Any]]:
    """All that was written down, by the scenario's own key; damage is left out with a warning."""
    made: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            made |= coincidences_in(path.name, path.read_bytes())
        except FileNotFoundError:
            continue
        except (OSError, Damaged) as error:
            warnings.warn(f"{path} is left out: {error}", DamagedFile, stacklevel=2)
    return made


def coincidences_in(name: str, content: bytes) -> dict[str, dict[str, Any]]:
    """What a file of this name says, which is the SHA-256 of its content; else a `Damaged`.

    >>> coincidences_in("00.json", b"[]")
    Traceback (most recent call last):
    ...
    wola.ground.sealed.Damaged: its content is not what was written
    """
    if name != f"{sha256(content).hexdigest()}.json":
        raise Damaged("its content is not what was written")
    try:
        rows = {str(row["key"]): dict(row) for row in json.loads(content)}
        _ = [row["run"] for row in rows.values()]
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"it holds no coincidences ({type(error).__name__})") from None
    return rows


def _readings(scenario: Scenario) -> list[Reading]:
    found = [*_unread(scenario), *_without_attackers(scenario)]
    if part_name(scenario.attack) not in _DROPPED:
        found += [*_small_buckets(scenario), *_median_in_disguise(scenario)]
    return found


def _mixings(scenario: Scenario) -> list[tuple[str, Mixing]]:
    if scenario.mixing == "none" or isinstance(scenario.mixing, Unimportable):
        return []
    return _made_mixings(scenario.mixing)


@lru_cache(maxsize=256)
def _made_mixings(text: str) -> list[tuple[str, Mixing]]:
    return list(zip(PARTS.texts("mixing", text), PARTS.make("mixing", text), strict=True))


def _small_buckets(scenario: Scenario) -> Iterable[Reading]:
    n, f = scenario.round_counts()
    mixings, kept = _mixings(scenario), []
    for text, mixing in mixings:
        if not (isinstance(mixing, Bucketing) and mixing.bucket_size(n, f) == 1):
            kept.append(text)
        n = mixing.count(n, f)
    if len(kept) < len(mixings):
        yield {"mixing": "+".join(kept) or "none"}, "buckets of one worker are no mixing"


def _median_in_disguise(scenario: Scenario) -> Iterable[Reading]:
    if scenario.aggregator != "trimmed-mean" or isinstance(scenario.mixing, Unimportable):
        return
    n, f = scenario.round_counts()
    for _, mixing in _mixings(scenario):
        n = mixing.count(n, f)
    if n - 2 * f == 1 and f > 0:
        reason = f"the trimmed mean of {n} - 2 x {f} = 1 values is the median"
        yield {"aggregator": "median"}, reason


def _without_attackers(scenario: Scenario) -> Iterable[Reading]:
    if scenario.byzantine:
        return
    for name in ("attack", "objective_attack"):
        if getattr(scenario, name) != "none":
            yield {name: "none"}, f"{name} is not read: nobody attacks when f = 0"


def _reads_reports(scenario: Scenario) -> bool:
    known = part_name(scenario.objective) in ("prior", "uniform")
    return not known or "labels" in scenario.rule().needs


_UNREAD: tuple[tuple[str, str, Callable[[Scenario], bool]], ...] = (
    ("alpha", "partition", lambda s: not PARTS.takes("partition", s.partition, "alpha")),
    ("objective_attack", "objective", lambda s: not _reads_reports(s)),
)


def _unread(scenario: Scenario) -> Iterable[Reading]:
    for name, reader, unread in _UNREAD:
        usual = Scenario.model_fields[name].default
        if getattr(scenario, name) != usual and unread(scenario):
            yield {name: usual}, f"{name} is not read: {reader} is {getattr(scenario, reader)}"
