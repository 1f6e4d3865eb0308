"""Parameters of parts as values that runs have: read from the texts, without importing a part."""

import inspect
from collections.abc import Iterable
from typing import Any

from wola.parts import Call, GrammarError, parse
from wola.parts.grammar import written_value
from wola.training import PARTS, Scenario

#: What a run has whose part lacks the parameter.
NONE = "-"

#: What a run has whose own part has the parameter elsewhere, and here its unknown default.
DEFAULT = "default"

#: The fields of a scenario that name parts.
PART_FIELDS = tuple(name for name in PARTS.kinds if name in Scenario.model_fields)


def parameters_in(field: str, texts: Iterable[str], *, written: bool = False) -> list[str]:
    """The parameters that the parts of some texts have; only those `written` there if so asked.

    >>> parameters_in("aggregator", ["multi-krum(power=1)", "median", "mine:Rule(k=3)"])
    ['power', 'm', 'k']
    """
    found: dict[str, None] = {}
    for text in texts:
        for call in _calls(text):
            keys = [key for key, _ in call.arguments if key]
            found |= dict.fromkeys(keys if written else [*_defaults(field, call), *keys])
    return list(found)


def parameter_values(field: str, parameter: str, texts: Iterable[str]) -> dict[str, str]:
    """What the parameter is in each text: as it is written there, or its default.

    Defaults are known of the library's parts alone; a part of one's own that has the parameter in
    another of the texts is at its `DEFAULT`, and a part that lacks it has `NONE`.

    >>> texts = ["multi-krum(power=1)", "multi-krum", "median", "my:Rule(k=3)"]
    >>> parameter_values("aggregator", "power", texts)
    {'multi-krum(power=1)': '1', 'multi-krum': '2', 'median': '-', 'my:Rule(k=3)': '-'}
    """
    calls = {text: _calls(text) for text in texts}
    having = {
        call.name
        for some in calls.values()
        for call in some
        if any(key == parameter for key, _ in call.arguments)
    }
    made = {}
    for text, some in calls.items():
        found = [_value(field, call, parameter, having) for call in some]
        told = [value for value in found if value is not None]
        made[text] = "+".join(told) if told else NONE
    return made


def value_order(value: str) -> tuple[int, float, str]:
    """Sorts values of a parameter: numbers by size, then words, then what is no value.

    >>> sorted(["-", "10", "auto", "2"], key=value_order)
    ['2', '10', 'auto', '-']
    """
    if value in (DEFAULT, NONE):
        return (2 + (value == NONE), 0.0, value)
    try:
        return (0, float(value), value)
    except ValueError:
        return (1, 0.0, value)


def _calls(text: str) -> tuple[Call, ...]:
    try:
        return parse(text)
    except GrammarError:
        return ()


def _defaults(field: str, call: Call) -> dict[str, Any]:
    """The parameters of a library's part with their defaults; of others none are known."""
    kind = PARTS.kinds[field]
    if call.name not in kind.names:
        return {}
    known = inspect.signature(kind.names[call.name]).parameters
    return {key: p.default for key, p in known.items() if key not in kind.later}


def _value(field: str, call: Call, parameter: str, having: set[str]) -> str | None:
    given = dict(call.arguments)
    if parameter in given:
        return _text(given[parameter])
    known = _defaults(field, call)
    if parameter in known:
        return _text(known[parameter])
    return DEFAULT if call.name in having else None


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return f"{value:g}"
    plain = value is None or isinstance(value, bool | int | float | str | tuple)
    return written_value(value) if plain else DEFAULT
