"""What a run's setting is: in words, which of its fields are not the paper's for the dataset."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from wola.bench.strategies import Strategies
from wola.parts import part_name
from wola.training import STRATEGIES, Scenario
from wola.training.scenario import PAPER

#: What places a run in a table.
TABLE_AXES = ("dataset", "alpha", "byzantine", "strategy", "aggregator", "attack", "seed")

#: The axes of a heat map, on which its settings differ.
SWEPT = ("batch", "beta")

#: So much of a content's SHA-256 tells it from another.
CONTENT = 8

_FIELDS = tuple(name for name in Scenario.model_fields if name not in TABLE_AXES)
_BY_STRATEGY = frozenset(STRATEGIES["-"])

Row = Mapping[str, Any]


class Setting(NamedTuple):
    """A setting in words, and the same without what it says of batch and momentum."""

    text: str
    rest: str


@cache
def usual_fields(dataset: str) -> Mapping[str, Any]:
    """The fields that go without saying for a dataset: the paper's, or the library's for own data.

    Only the text is looked at: nothing is imported, and no data are opened.

    >>> usual_fields("cifar10")["beta"], usual_fields("npz(path=mine.npz)")["partition"]
    (0.99, 'dirichlet(mode=disjoint)')
    """
    name = part_name(dataset)
    own = {} if name in PAPER else {"partition": "dirichlet(mode=disjoint)"}
    return Scenario.stored({"dataset": dataset, **own, **PAPER.get(name, {})}).model_dump()


def settings_of(
    rows: Sequence[Row],
    own: Strategies,
    changed: frozenset[str],
    aside: frozenset[str] = frozenset(),
) -> list[Setting]:
    """The setting of each run: of rows with the fields of a scenario, `strategy` and `content`.

    What a run's strategy sets does not count, so that strategies stand in one table whatever they
    set. A run of a strategy of one's own takes the setting of the other runs that are like it but
    for what it sets, if there is one such setting alone. `changed` names the contents that meet in
    two versions: they are told apart. Fields set `aside` are not part of any setting.
    """

    def spelt_out(row: Row, sets: frozenset[str] = frozenset()) -> Setting:
        return _spelt_out(row, _set_by(row["strategy"], own) | sets | aside, changed)

    made = list(map(spelt_out, rows))
    places = {name: frozenset(sets) & set(_FIELDS) - _BY_STRATEGY for name, sets in own.items()}
    special = {name: sets for name, sets in places.items() if sets}
    if not special:
        return made
    plain: dict[tuple[str, frozenset[str], str], set[Setting]] = {}
    for row, setting in zip(rows, made, strict=True):
        if row["strategy"] not in special:
            for sets in set(special.values()):
                less = spelt_out(row, sets).text
                plain.setdefault((row["dataset"], sets, less), set()).add(setting)
    for place, row in enumerate(rows):
        sets = special.get(row["strategy"], frozenset())
        likes = plain.get((row["dataset"], sets, made[place].text), set())
        if len(likes) == 1:
            (made[place],) = likes
    return made


def content_versions(contents: Sequence[str | None]) -> dict[str, set[str]]:
    """The versions of each of the user's data and sources among the contents of some runs.

    >>> content_versions(['{"a.npz": "12"}', '{"a.npz": "12"}', None])
    {'a.npz': {'12'}}
    """
    versions: dict[str, set[str]] = {}
    for content in set(contents):
        for name, digest in read_content(content).items():
            versions.setdefault(name, set()).add(digest)
    return versions


@cache
def read_content(content: str | None) -> Mapping[str, str]:
    """SHA-256 of the user's data and sources by name, from the one line that a store keeps.

    >>> read_content('{"a.npz": "12"}'), read_content(None)
    ({'a.npz': '12'}, {})
    """
    found = json.loads(content) if content else {}
    return {str(name): str(digest) for name, digest in found.items()}


def _set_by(strategy: str, own: Strategies) -> frozenset[str]:
    return frozenset(own[strategy]) if strategy in own else _BY_STRATEGY


def _spelt_out(row: Row, unsaid: frozenset[str], changed: frozenset[str]) -> Setting:
    content = read_content(row["content"])
    versions = tuple(content[name][:CONTENT] for name in sorted(changed & content.keys()))
    return _in_words(row["dataset"], tuple(row[name] for name in _FIELDS), unsaid, versions)


@cache
def _in_words(
    dataset: str, fields: tuple[Any, ...], unsaid: frozenset[str], versions: tuple[str, ...]
) -> Setting:
    usual = usual_fields(dataset)
    told = {
        name: f"{name} {value}"
        for name, value in zip(_FIELDS, fields, strict=True)
        if name not in unsaid and value != usual[name]
    }
    contents = [f"content {version}" for version in versions]
    rest = [text for name, text in told.items() if name not in SWEPT]
    return Setting(", ".join([*told.values(), *contents]), ", ".join([*rest, *contents]))
