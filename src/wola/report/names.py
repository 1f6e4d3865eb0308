"""What strategies are called, in what order things come, and how a text becomes a file's name."""

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from wola.bench.strategies import Strategies, named_strategy
from wola.parts import Call, GrammarError, parse, part_name, written
from wola.report.short_names import TITLES, short_names

_LONGEST = 32


def strategy_name(fields: Mapping[str, Any], own: Strategies | None = None) -> str:
    """What a scenario's fields are called as a strategy, of the paper, of `own`, or neither.

    A strategy without a name is spelt out by its loss, its objective and its mixings, with all
    their parameters: two of them never share a text, whatever else is there.

    >>> from wola.training import Scenario
    >>> strategy_name(Scenario(loss="wola", mixing="arc+nnm", objective="uniform").model_dump())
    'WoLA(uniform)+ARC+NNM'
    """
    named = named_strategy(fields, own or {})
    if named is not None:
        return named
    spelt = _spelt_out(fields)
    return f"{spelt} (unnamed)" if spelt in (own or {}) else spelt


def _spelt_out(fields: Mapping[str, Any]) -> str:
    usual = {"objective": "prior", "objective_attack": "none"}
    details = tuple((None, fields[name]) for name in usual if fields[name] != usual[name])
    try:
        (loss,) = parse(fields["loss"])
        mixings = () if fields["mixing"] == "none" else parse(fields["mixing"])
    except (GrammarError, ValueError):
        return "+".join(str(fields[name]) for name in ("loss", *usual, "mixing"))
    plain = loss == Call("cross-entropy") and not details
    calls = (*(() if plain else (Call(loss.name, (*details, *loss.arguments)),)), *mixings)
    return "+".join(written(Call(TITLES.get(c.name, c.name), c.arguments)) for c in calls)


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Each name once: the known ones in the order given there, then the others by alphabet.

    >>> from wola.training import STRATEGIES
    >>> in_order(["WoLA", "own", "-"], STRATEGIES)
    ['-', 'WoLA', 'own']
    """
    order = {name: place for place, name in enumerate(known)}
    return sorted(set(names), key=lambda name: (order.get(name, len(order)), name))


def parts_in_order(texts: Iterable[str]) -> list[str]:
    """Each part once: those of the paper in its order, whatever their parameters, then the others.

    >>> parts_in_order(["mine:Rule(k=3)", "bulyan", "multi-krum(power=1)", "median"])
    ['median', 'multi-krum(power=1)', 'bulyan', 'mine:Rule(k=3)']
    """
    order = {name: place for place, name in enumerate(TITLES)}
    return sorted(set(texts), key=lambda text: (order.get(part_name(text), len(order)), text))


def file_word(text: str) -> str:
    """Text as part of a file's name; with a hash if it is long or would look like another.

    >>> file_word("steps 20, batch 5"), file_word("model A")
    ('steps-20-batch-5', 'model-a-7c4a7a')
    """
    word = _plain_word(text)
    if len(word) <= _LONGEST and re.fullmatch(r"[a-z0-9., _-]*", text):
        return word
    return f"{word[:_LONGEST]}-{_hash(text)}"


def part_word(text: str) -> str:
    """The text of a part as part of a file's name: its short name, with a hash of the rest.

    >>> part_word("fashion-mnist"), part_word("npz(path=/data/mine.npz)")
    ('fashion-mnist', 'mine.npz-c6c9c6')
    """
    if text == part_name(text):
        return file_word(text)
    return f"{_plain_word(short_names([text])[text])[:_LONGEST]}-{_hash(text)}"


def _plain_word(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:6]
