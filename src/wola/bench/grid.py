"""A grid: a base scenario and named axes, and the scenarios they span."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from wola.bench.strategies import Strategies, named_strategy
from wola.ground.names import nearest
from wola.parts import PartError, part_name
from wola.training import PARTS, STRATEGIES, Scenario, ScenarioError, strategy_named

Condition = Callable[[Scenario], bool]
Values = Sequence[Any]

#: What an axis may be: a field of a scenario, or the name of a strategy, which sets several.
AXES = (*Scenario.model_fields, "strategy")

_TABLES = {"base": dict, "axes": dict, "strategies": dict, "without": list}


class GridError(ValueError):
    """A grid that cannot be: the message names the axis, its value and what is allowed."""


@dataclass(frozen=True)
class Grid:
    """A base scenario, axes over it, and filters: every combination of the axes' values is a run.

    `base` is a whole `Scenario`, or only the fields that differ from the paper's settings for the
    dataset (`Scenario.paper`), which may then differ from dataset to dataset. An axis is any field
    of a scenario, or "strategy": the paper's strategies and those of `strategies`, each a name and
    the fields it sets. A grid with strategies of its own and no such axis takes all of them. A run
    is kept if every condition of `where` holds for it and no table of `without` matches it, which
    it does if each of its fields has the value, or one of the values, in the table; the name of a
    part matches it with whatever parameters. `cpus` and `gpus` are what one run needs of a
    cluster.

    >>> grid = Grid({"dataset": "digits"}, {"strategy": ["-", "WoLA"], "seed": [1, 2, 3]})
    >>> len(grid.scenarios()), len(grid.cut(strategy="wola").scenarios())
    (6, 3)
    >>> mine = Grid(strategies={"Mine": {"loss": "wola", "mixing": "arc+nnm"}})
    >>> mine.scenarios()[0].mixing
    'arc+nnm'
    """

    base: Scenario | Mapping[str, Any] = field(default_factory=dict)
    axes: Mapping[str, Values] = field(default_factory=dict)
    where: tuple[Condition, ...] = ()
    without: tuple[Mapping[str, Any], ...] = ()
    strategies: Strategies = field(default_factory=dict)
    cpus: float = 1.0
    gpus: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.base, Scenario):
            for name in self.base:
                _check_name(name, "a field of the base")
            object.__setattr__(self, "base", dict(self.base))
        object.__setattr__(self, "strategies", _own_strategies(self.strategies, self._usual()))
        axes = dict(self.axes)
        if self.strategies and "strategy" not in axes and "strategy" not in self._fields_of_base():
            axes = {"strategy": list(self.strategies), **axes}
        object.__setattr__(self, "axes", {k: self._axis(k, v) for k, v in axes.items()})
        object.__setattr__(self, "without", tuple(self._table(table) for table in self.without))
        for name, least in (("cpus", 0), ("gpus", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or value < least:
                raise GridError(f"{name} = {value!r}; allowed: a number >= {least}")
        self._check_strategies()

    def scenarios(self) -> list[Scenario]:
        """All runs, the last axis moving fastest; always in the same order."""
        made = [scenario for scenario in self._spanned() if self._keeps(scenario)]
        if not made:
            raise GridError("the grid is empty: its filters leave no run")
        return made

    def cut(self, **chosen: Any) -> Grid:
        """The part of the grid where these axes have these values: one each, or several.

        Values may be texts, as a command line gives them; the name of a part stands for it with
        whatever parameters the axis gives it. A value that is not on the axis is a `GridError`: a
        cut never adds a run.
        """
        axes = dict(self.axes)
        for name, asked in chosen.items():
            if name not in axes:
                raise GridError(f"{name} is no axis of this grid; {_hint(name, axes)}")
            kept: list[Any] = []
            for value in _several(asked):
                found = [v for v in axes[name] if v in self._meant(name, value, axes[name])]
                if not found:
                    hint = _hint(str(value), map(str, axes[name]))
                    raise GridError(f"{name} = {value!r} is not on the axis; {hint}")
                kept += found
            axes[name] = [value for value in axes[name] if value in kept]
        return replace(self, axes=axes)

    def changed(self, **fields: Any) -> Grid:
        """The same grid over another base: these fields set, none of them an axis."""
        for name, value in fields.items():
            if name in self.axes:
                raise GridError(f"{name} = {value!r}; allowed: a field that is no axis; cut it")
        if isinstance(self.base, Scenario):
            with _said_of_the_grid():
                return replace(self, base=self.base.changed(**fields))
        return replace(self, base={**self.base, **fields})

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Self:
        """The grid of a TOML file: tables `base`, `axes` and `strategies`, any number of `without`.

        Fields that `base` leaves out are the paper's for the dataset. What the file names is
        imported.
        """
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise GridError(f"{path} cannot be read as a grid: {error}") from error
        parts = (*_TABLES, "cpus", "gpus")
        for name, value in content.items():
            if name not in parts:
                raise GridError(f"{path}: {name} is no part of a grid; {_hint(name, parts)}")
            wanted = _TABLES.get(name)
            if wanted is not None and not isinstance(value, wanted):
                kind = "[[without]] tables" if name == "without" else f"a table [{name}]"
                raise GridError(f"{path}: {name} = {value!r}; allowed: {kind}")
        try:
            return cls(**{**content, "without": tuple(content.get("without", ()))})
        except GridError as error:
            raise GridError(f"{path}: {error}") from None

    def _usual(self) -> dict[str, Any]:
        """What a strategy of one's own leaves as it is, of all that the paper's strategies set."""
        if isinstance(self.base, Scenario):
            base: Mapping[str, Any] = self.base.model_dump()
        else:
            base = {**{k: i.default for k, i in Scenario.model_fields.items()}, **self.base}
        return {name: base[name] for name in STRATEGIES["-"] if name not in self.axes}

    def _fields_of_base(self) -> Mapping[str, Any]:
        return {} if isinstance(self.base, Scenario) else self.base

    def _spanned(self) -> Iterator[Scenario]:
        for values in product(*self.axes.values()):
            fields = dict(zip(self.axes, values, strict=True))
            with _said_of_the_grid():
                made = self._scenario(fields)
            yield made

    def _scenario(self, fields: dict[str, Any]) -> Scenario:
        if isinstance(self.base, Scenario):
            strategy = fields.pop("strategy", None)
            sets = {} if strategy is None else self._sets(strategy)
            return self.base.changed(**sets, **fields) if sets or fields else self.base
        given = {**self.base, **fields}
        strategy = given.pop("strategy", None)
        sets = {} if strategy is None else self._sets(strategy)
        return Scenario.paper(**{**sets, **given})

    def _sets(self, strategy: str) -> Mapping[str, Any]:
        known = {**STRATEGIES, **self.strategies}
        try:
            return known[strategy_named(str(strategy), known)]
        except ValueError as error:
            raise GridError(f"strategy = {strategy!r}; {error}") from None

    def _keeps(self, scenario: Scenario) -> bool:
        matched = any(self._matches(scenario, table) for table in self.without)
        return not matched and all(holds(scenario) for holds in self.where)

    def _matches(self, scenario: Scenario, table: Mapping[str, Values]) -> bool:
        fields = scenario.model_dump()
        if "strategy" in table:
            fields["strategy"] = named_strategy(fields, self.strategies)
        return all(_is_one_of(name, fields[name], some) for name, some in table.items())

    def _axis(self, name: str, values: Any) -> list[Any]:
        _check_name(name, "an axis")
        made = [axis_value(name, value, self.strategies) for value in _several(values)]
        if not made:
            raise GridError(f"{name} = []; allowed: at least one value on an axis")
        for index, value in enumerate(made):
            if value in made[:index]:
                raise GridError(f"{name} = {value!r} stands on the axis twice; allowed: once")
        return made

    def _table(self, table: Mapping[str, Any]) -> dict[str, list[Any]]:
        for name in table:
            _check_name(name, "filtered on")
        return {
            name: [axis_value(name, v, self.strategies) for v in _several(values)]
            for name, values in table.items()
        }

    def _meant(self, name: str, asked: Any, axis: Values) -> list[Any]:
        """The values of an axis that somebody means who asks for this one."""
        if name in PARTS.kinds and isinstance(asked, str):
            named = [value for value in axis if part_name(value) == asked.strip()]
            if named or ":" in asked:
                return named
            with suppress(GridError):
                return [axis_value(name, asked, self.strategies)]
            return []
        return [axis_value(name, asked, self.strategies)]

    def _check_strategies(self) -> None:
        base = {k: v for k, v in self._fields_of_base().items() if not self._leaves(k, v)}
        named = self.axes.get("strategy", [base["strategy"]] if "strategy" in base else [])
        for strategy in named:
            sets = self._sets(strategy)
            if both := [name for name in (*self.axes, *base) if name in sets]:
                raise GridError(
                    f"{both[0]} is set by strategy {strategy!r} as well; allowed: one of the two"
                )

    def _leaves(self, name: str, value: Any) -> bool:
        """Whether every strategy of the grid's own leaves a field of the base as it is there."""
        return bool(self.strategies) and all(
            axis_value(name, value) == sets.get(name) for sets in self.strategies.values()
        )


@contextmanager
def _said_of_the_grid() -> Iterator[None]:
    try:
        yield
    except (ScenarioError, PartError) as error:
        raise GridError(str(error)) from error.__cause__


def _own_strategies(given: Any, usual: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for name, fields in dict(given).items():
        if name in STRATEGIES:
            raise GridError(
                f"strategies: {name!r} is one of the paper's; allowed: a name of its own"
            )
        if not isinstance(fields, Mapping) or not fields:
            raise GridError(f"strategies: {name!r} = {fields!r}; allowed: a table of fields")
        for field_name in fields:
            if field_name not in Scenario.model_fields:
                hint = _hint(field_name, Scenario.model_fields)
                raise GridError(f"strategies: {name!r} sets {field_name!r}, no field; {hint}")
        own = {key: axis_value(key, value) for key, value in fields.items()}
        made[name] = {**usual, **own}
        for other, sets in {**STRATEGIES, **made}.items():
            if other != name and sets == made[name]:
                raise GridError(f"strategies: {name!r} is the same as {other!r}; allowed: one name")
    return made


def _check_name(name: str, what: str) -> None:
    if name not in AXES:
        raise GridError(f"{name} cannot be {what}; {_hint(name, AXES)}")


def _several(values: Any) -> list[Any]:
    alone = isinstance(values, str) or not isinstance(values, Iterable)
    return [values] if alone else list(values)


def axis_value(name: str, value: Any, strategies: Strategies | None = None) -> Any:
    """A value of an axis as a scenario has it; texts, as a command line gives them, are read.

    >>> axis_value("alpha", "0.3"), axis_value("strategy", "wola")
    (0.3, 'WoLA')
    """
    if name == "strategy":
        try:
            return strategy_named(str(value), {**STRATEGIES, **(strategies or {})})
        except ValueError as error:
            raise GridError(f"strategy = {value!r}; {error}") from None
    if name in PARTS.kinds:
        with _said_of_the_grid():
            return PARTS.settle(name, value)
    info = Scenario.model_fields[name]
    try:
        if isinstance(value, bool) and info.annotation is not bool:
            raise ValueError(value)
        return TypeAdapter(info.rebuild_annotation()).validate_python(value)
    except (ValidationError, ValueError):
        with _said_of_the_grid():
            Scenario(**{name: value})
        raise


def _is_one_of(name: str, value: Any, values: Values) -> bool:
    return value in values or (name in PARTS.kinds and part_name(str(value)) in values)


def _hint(name: str, names: Iterable[str]) -> str:
    try:
        return nearest(name, names)
    except ValueError as error:
        return str(error)
