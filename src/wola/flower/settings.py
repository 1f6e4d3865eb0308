"""All that a strategy is told, with defaults filled in and checked before anything starts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from os import PathLike
from typing import Any, Literal

from wola.aggregation import Rule, TrimmedMean
from wola.flower.recipe import Recipe
from wola.flower.signing import load_public_keys
from wola.ground.checks import check_whole
from wola.labels import Objective, Shared
from wola.mixing import NNM

File = str | PathLike[str]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What `WolaStrategy` was given; see there for what the fields mean.

    `least` is the smallest number of updates that the rule can be given with f Byzantine ones.
    """

    classes: int
    n: int
    f: int
    rule: Rule
    objective: Objective
    recipe: Recipe
    deadline: float
    least: int
    quorum: int
    min_nodes: int
    patience: float
    empty_rounds: int
    federation: str
    keys: frozenset[bytes] | None
    checkpoint: File | None
    records: File | None
    evaluate: Literal["none", "federated"]

    def identity(self, fingerprint: str) -> dict[str, Any]:
        """What a run must have in common with the one whose checkpoint it continues."""
        return {
            "federation": self.federation,
            "model": fingerprint,
            "classes": self.classes,
            "objective": str(self.objective),
            "recipe": asdict(self.recipe),
        }


def settled(
    *,
    classes: int,
    n: int,
    f: int,
    rule: Rule | None = None,
    objective: Objective | None = None,
    recipe: Recipe | None = None,
    deadline: float = 60.0,
    quorum: int | None = None,
    min_nodes: int | None = None,
    patience: float = 120.0,
    empty_rounds: int = 3,
    federation: str = "wola",
    keys: Iterable[bytes | File] | None = None,
    checkpoint: File | None = None,
    records: File | None = None,
    evaluate: Literal["none", "federated"] = "none",
) -> Settings:
    """The settings with defaults filled in; a ValueError names what cannot be.

    >>> settled(classes=10, n=7, f=3, quorum=4)
    Traceback (most recent call last):
    ...
    ValueError: quorum = 4; allowed with n = 7 and f = 3: 7 to 7
    """
    for name, count in (("classes", classes), ("n", n), ("empty_rounds", empty_rounds)):
        check_whole(name, count, least=1)
    check_whole("f", f, least=0)
    rule = NNM() | TrimmedMean() if rule is None else rule
    rule.check(n, f)
    least = next(m for m in range(1, n + 1) if _accepts(rule, m, f))
    if quorum is None:
        quorum = max(n - f, 2 * f + 1, least)
    check_whole("quorum", quorum, least=1)
    if not least <= quorum <= n:
        raise ValueError(f"quorum = {quorum}; allowed with n = {n} and f = {f}: {least} to {n}")
    if evaluate not in ("none", "federated"):
        raise ValueError(f"evaluate = {evaluate!r}; allowed: none, federated")
    return Settings(
        classes=classes,
        n=n,
        f=f,
        rule=rule,
        objective=Shared() if objective is None else objective,
        recipe=Recipe() if recipe is None else recipe,
        deadline=check_seconds("deadline", deadline),
        least=least,
        quorum=quorum,
        min_nodes=n if min_nodes is None else check_whole("min_nodes", min_nodes, least=1),
        patience=check_seconds("patience", patience),
        empty_rounds=empty_rounds,
        federation=federation,
        keys=None if keys is None else allowed_keys(keys),
        checkpoint=checkpoint,
        records=records,
        evaluate=evaluate,
    )


def check_seconds(name: str, seconds: float) -> float:
    """The time if it is a finite number above 0, else a ValueError."""
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not (isfinite(seconds) and seconds > 0):
        raise ValueError(f"{name} = {seconds!r}; allowed: a number of seconds > 0")
    return seconds


def allowed_keys(keys: Iterable[bytes | File]) -> frozenset[bytes]:
    """Public keys, 32 bytes each, from such keys and from files of them.

    >>> len(allowed_keys([bytes(32), bytes(32)]))
    1
    """
    if isinstance(keys, bytes | str):
        raise TypeError(f"keys = {keys!r}; allowed: a list of keys or of files")
    given = list(keys)
    raw = {key for key in given if isinstance(key, bytes)}
    if wrong := [key for key in raw if len(key) != 32]:
        raise ValueError(f"keys has one of {len(wrong[0])} bytes; allowed: 32")
    found = raw | load_public_keys([key for key in given if not isinstance(key, bytes)])
    if not found:
        raise ValueError("keys is empty; allowed: at least one key")
    return frozenset(found)


def _accepts(rule: Rule, n: int, f: int) -> bool:
    try:
        rule.check(n, f)
    except ValueError:
        return False
    return True
