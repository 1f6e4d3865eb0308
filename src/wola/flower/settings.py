"""The settings of a strategy: one list, checked before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from inspect import Parameter, signature
from os import PathLike
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import torch
from torch import Tensor, nn

from wola.aggregation import Rule
from wola.flower.recipe import Recipe
from wola.flower.rule_needs import check_needs, keeps_state, least_updates
from wola.flower.signing import load_public_keys
from wola.ground.checks import check_choice, check_number, check_whole
from wola.labels import Objective
from wola.parts import GrammarError, PartError
from wola.training import ServerData
from wola.training.registry import PARTS

File = str | PathLike[str]
S = TypeVar("S")
P = ParamSpec("P")


@dataclass(frozen=True, kw_only=True)
class StrategySettings:
    """The keyword arguments of `WolaStrategy`, checked; an impossible one is named in the error.

    >>> StrategySettings(classes=10, n=7, f=3, quorum=4)
    Traceback (most recent call last):
    ...
    ValueError: quorum = 4; allowed with n = 7 and f = 3: 7 to 7
    """

    classes: int
    """Classes, C."""
    n: int
    """Clients, the Byzantine ones included."""
    f: int
    """Clients that may fail or lie, fewer than half."""
    rule: Rule | str = "nnm+trimmed-mean"
    """What makes one update out of many: a rule, or its text."""
    objective: Objective | str = "shared"
    """The label distribution q that the WoLA loss trains towards: an objective, or its text."""
    recipe: Recipe = field(default_factory=Recipe)
    """How clients and server train."""
    reference: ServerData | None = None
    """Clean data of the server's own, for a rule that needs them."""
    deadline: float = 60.0
    """Seconds after which a round closes in any case."""
    quorum: int | None = None
    """Valid replies that close a round; none: max(n - f, 2f + 1), or what the rule needs."""
    min_nodes: int | None = None
    """Nodes to wait for at the start; none: n."""
    patience: float = 120.0
    """Seconds to wait for them."""
    empty_rounds: int = 3
    """Rounds in a row without a step after which the run ends."""
    federation: str = "wola"
    """The name of the federation, which is part of what clients sign."""
    keys: Iterable[bytes | File] | None = None
    """Public keys of 32 bytes, or files of them, that may sign replies; none: unsigned."""
    checkpoint: File | None = None
    """A file to continue from, written after every round."""
    records: File | None = None
    """A file that gets a line of JSON per round."""
    evaluate: Literal["none", "federated"] = "none"
    """Whether clients are asked for their accuracy after each round."""

    def __post_init__(self) -> None:
        for name in ("classes", "n", "empty_rounds"):
            check_whole(name, getattr(self, name), least=1)
        check_whole("f", self.f, least=0)
        self.aggregation_rule.check(self.n, self.f)
        if 2 * self.f >= self.n:
            raise ValueError(
                f"f = {self.f}; allowed with n = {self.n}: 0 to {(self.n - 1) // 2}, less than half"
            )
        check_needs(
            self.aggregation_rule,
            self.reference,
            self.label_objective,
            classes=self.classes,
            n=self.n,
            f=self.f,
        )
        self._check_quorum()
        check_whole("min_nodes", self.nodes_at_start, least=1)
        for name in ("deadline", "patience"):
            check_number(name, getattr(self, name), above=0)
        check_choice("evaluate", self.evaluate, ("none", "federated"))
        if not isinstance(self.recipe, Recipe):
            raise TypeError(f"recipe = {self.recipe!r}; allowed: a Recipe")
        self.known_objective()
        if self.keys is not None:
            # Read now, and once: a file may be gone later, and an iterator is used up.
            object.__setattr__(self, "keys", read_keys(self.keys))

    def _check_quorum(self) -> None:
        least, most = self.least_updates, self.n
        if not least <= check_whole("quorum", self.replies_needed, least=1) <= most:
            raise ValueError(
                f"quorum = {self.quorum}; allowed with n = {self.n} and f = {self.f}: "
                f"{least} to {most}"
            )

    @cached_property
    def aggregation_rule(self) -> Rule:
        """The rule itself, where `rule` may be its text."""
        if isinstance(self.rule, Rule):
            return self.rule
        if not isinstance(self.rule, str):
            raise TypeError(f"rule = {self.rule!r}; allowed: a Rule, or its text")
        try:
            text = PARTS.settle_rule("aggregator", self.rule)
        except (GrammarError, PartError) as error:
            raise ValueError(f"rule = {self.rule!r}: {error}") from error.__cause__
        rule: Rule = PARTS.make_rule("aggregator", text)
        return rule

    @cached_property
    def label_objective(self) -> Objective:
        """The objective itself, where `objective` may be its text."""
        if isinstance(self.objective, Objective):
            return self.objective
        objective: Objective = PARTS.make("objective", PARTS.settle("objective", self.objective))
        return objective

    def known_objective(self) -> Tensor | None:
        """q (C,) where it does not depend on what clients report, else None."""
        objective = self.label_objective
        if objective.needs_reports:
            return None
        try:
            return objective(torch.ones(1, self.classes, dtype=torch.float64), 0)
        except ValueError as error:
            raise ValueError(f"objective = {str(self.objective)!r}: {error}") from error

    @cached_property
    def least_updates(self) -> int:
        """The smallest number of updates that the rule accepts with f Byzantine ones."""
        return least_updates(self.aggregation_rule, classes=self.classes, n=self.n, f=self.f)

    @property
    def replies_needed(self) -> int:
        """The valid replies that close a round: `quorum`, or its default."""
        if self.quorum is not None:
            return self.quorum
        return max(self.n - self.f, 2 * self.f + 1, self.least_updates)

    @property
    def warning(self) -> str | None:
        """What will go wrong when fewer than f clients are silent; None: nothing will.

        f silent clients leave n - f updates, of which f may still be lies: a rule that needs
        2f + 1 updates works on if n >= 3f + 1.

        >>> print(StrategySettings(classes=10, n=5, f=2).warning)
        n = 5 and f = 2: the rule needs 5 updates, so one silent client empties every round; \
allowed, but choose n >= 7 or a smaller f
        """
        borne = self.n - self.least_updates
        if borne >= self.f:
            return None
        silent = "one silent client empties" if borne == 0 else f"{borne + 1} silent clients empty"
        return (
            f"n = {self.n} and f = {self.f}: the rule needs {self.least_updates} updates, so "
            f"{silent} every round; allowed, but choose n >= {self.least_updates + self.f} "
            "or a smaller f"
        )

    @property
    def nodes_at_start(self) -> int:
        """The nodes to wait for at the start: `min_nodes`, or its default."""
        return self.n if self.min_nodes is None else self.min_nodes

    @property
    def public_keys(self) -> frozenset[bytes] | None:
        """The keys that may sign replies; None: replies need no signature."""
        return None if self.keys is None else read_keys(self.keys)

    def identity(self, fingerprint: str) -> dict[str, Any]:
        """What a run must have in common with the one whose checkpoint it continues.

        The rule only if something of it, or of the server's own rows, is in the checkpoint.
        """
        return {
            "rule": str(self.aggregation_rule) if keeps_state(self.aggregation_rule) else None,
            "federation": self.federation,
            "model": fingerprint,
            "classes": self.classes,
            "objective": str(self.label_objective),
            "recipe": self.recipe.model_dump(),
        }


def takes_settings(
    settings: Callable[P, StrategySettings],
) -> Callable[
    [Callable[[S, nn.Module, StrategySettings], None]],
    Callable[Concatenate[S, nn.Module, P], None],
]:
    """Gives a constructor that takes a model and settings the settings' own keyword arguments."""

    def decorated(
        init: Callable[[S, nn.Module, StrategySettings], None],
    ) -> Callable[Concatenate[S, nn.Module, P], None]:
        @wraps(init)
        def made(self: S, model: nn.Module, /, *args: P.args, **kwargs: P.kwargs) -> None:
            init(self, model, settings(*args, **kwargs))

        first = [Parameter(k, Parameter.POSITIONAL_ONLY) for k in ("self", "model")]
        keywords = list(signature(settings).parameters.values())
        made.__signature__ = signature(init).replace(  # type: ignore[attr-defined]
            parameters=[*first, *keywords]
        )
        return made

    return decorated


def read_keys(keys: Iterable[bytes | File]) -> frozenset[bytes]:
    """Public keys, 32 bytes each, from such keys and from files of them.

    >>> len(read_keys([bytes(32), bytes(32)]))
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
