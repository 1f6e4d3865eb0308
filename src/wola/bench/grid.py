"""A grid: a base scenario and named axes, and the scenarios they span."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from wola.ground.names import nearest
from wola.training import STRATEGIES, Scenario, ScenarioError
from wola.training.registry import strategy_named

Condition = Callable[[Scenario], bool]
Values = Sequence[Any]

#: What an axis may be: a field of a scenario, or the name of a strategy, which sets several.
AXES = (*Scenario.model_fields, "strategy")


class GridError(ValueError):
    """A grid that cannot be: the message names the axis, its value and what is allowed."""


@dataclass(frozen=True)
class Grid:
    """A base scenario, axes over it, and filters: every combination of the axes' values is a run.

    `base` is a whole `Scenario`, or only the fields that differ from the paper's settings for the
    dataset (`Scenario.paper`), which may then differ from dataset to dataset. An axis is any field
    of a scenario, or "strategy". A run is kept if every condition of `where` holds for it and no
    table of `without` matches it, which it does if each of its fields has the value, or one of the
    values, in the table. `cpus` and `gpus` are what one run needs of a cluster.

    >>> grid = Grid({"dataset": "digits"}, {"strategy": ["-", "WoLA"], "seed": [1, 2, 3]})
    >>> len(grid.scenarios()), len(grid.cut(strategy="wola").scenarios())
    (6, 3)
    """

    base: Scenario | Mapping[str, Any] = field(default_factory=dict)
    axes: Mapping[str, Values] = field(default_factory=dict)
    where: tuple[Condition, ...] = ()
    without: tuple[Mapping[str, Any], ...] = ()
    cpus: float = 1.0
    gpus: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.base, Scenario):
            for name in self.base:
                _check_name(name, "a field of the base")
            object.__setattr__(self, "base", dict(self.base))
        object.__setattr__(self, "axes", {k: _axis(k, v) for k, v in self.axes.items()})
        object.__setattr__(self, "without", tuple(_table(table) for table in self.without))
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

        Values may be texts, as a command line gives them. A value that is not on the axis is a
        `GridError`: a cut never adds a run.
        """
        axes = dict(self.axes)
        for name, asked in chosen.items():
            if name not in axes:
                raise GridError(f"{name} is no axis of this grid; {_hint(name, axes)}")
            values = [axis_value(name, value) for value in _several(asked)]
            for value in values:
                if value not in axes[name]:
                    hint = _hint(str(value), map(str, axes[name]))
                    raise GridError(f"{name} = {value!r} is not on the axis; {hint}")
            axes[name] = [value for value in axes[name] if value in values]
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
        """The grid of a TOML file: tables `base` and `axes`, any number of `without`, the needs.

        Fields that `base` leaves out are the paper's for the dataset.
        """
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise GridError(f"{path} cannot be read as a grid: {error}") from error
        parts = ("base", "axes", "without", "cpus", "gpus")
        for name, value in content.items():
            if name not in parts:
                raise GridError(f"{path}: {name} is no part of a grid; {_hint(name, parts)}")
            wanted = {"base": dict, "axes": dict, "without": list}.get(name)
            if wanted is not None and not isinstance(value, wanted):
                kind = "[[without]] tables" if name == "without" else f"a table [{name}]"
                raise GridError(f"{path}: {name} = {value!r}; allowed: {kind}")
        try:
            return cls(**{**content, "without": tuple(content.get("without", ()))})
        except GridError as error:
            raise GridError(f"{path}: {error}") from None

    def _spanned(self) -> Iterator[Scenario]:
        for values in product(*self.axes.values()):
            fields = dict(zip(self.axes, values, strict=True))
            with _said_of_the_grid():
                made = self._scenario(fields)
            yield made

    def _scenario(self, fields: dict[str, Any]) -> Scenario:
        if isinstance(self.base, Scenario):
            strategy = fields.pop("strategy", None)
            base = self.base if strategy is None else self.base.with_strategy(strategy)
            return base.changed(**fields) if fields else base
        return Scenario.paper(**{**self.base, **fields})

    def _keeps(self, scenario: Scenario) -> bool:
        matched = any(_matches(scenario, table) for table in self.without)
        return not matched and all(holds(scenario) for holds in self.where)

    def _check_strategies(self) -> None:
        base = {} if isinstance(self.base, Scenario) else self.base
        named = self.axes.get("strategy", [base["strategy"]] if "strategy" in base else [])
        for strategy in named:
            sets = STRATEGIES.get(str(strategy), {})
            if both := [name for name in (*self.axes, *base) if name in sets]:
                raise GridError(
                    f"{both[0]} is set by strategy {strategy!r} as well; allowed: one of the two"
                )


@contextmanager
def _said_of_the_grid() -> Iterator[None]:
    try:
        yield
    except ScenarioError as error:
        raise GridError(str(error)) from None


def _check_name(name: str, what: str) -> None:
    if name not in AXES:
        raise GridError(f"{name} cannot be {what}; {_hint(name, AXES)}")


def _axis(name: str, values: Any) -> list[Any]:
    _check_name(name, "an axis")
    made = [axis_value(name, value) for value in _several(values)]
    if not made:
        raise GridError(f"{name} = []; allowed: at least one value on an axis")
    for index, value in enumerate(made):
        if value in made[:index]:
            raise GridError(f"{name} = {value!r} stands on the axis twice; allowed: once")
    return made


def _table(table: Mapping[str, Any]) -> dict[str, list[Any]]:
    for name in table:
        _check_name(name, "filtered on")
    return {name: [axis_value(name, v) for v in _several(values)] for name, values in table.items()}


def _several(values: Any) -> list[Any]:
    alone = isinstance(values, str) or not isinstance(values, Iterable)
    return [values] if alone else list(values)


def axis_value(name: str, value: Any) -> Any:
    """A value of an axis as a scenario has it; texts, as a command line gives them, are read.

    >>> axis_value("alpha", "0.3"), axis_value("strategy", "wola")
    (0.3, 'WoLA')
    """
    if name == "strategy":
        try:
            return strategy_named(str(value))
        except ValueError as error:
            raise GridError(f"strategy = {value!r}; {error}") from None
    info = Scenario.model_fields[name]
    try:
        return TypeAdapter(info.rebuild_annotation()).validate_python(value)
    except ValidationError:
        with _said_of_the_grid():
            Scenario(**{name: value})
        raise


def _matches(scenario: Scenario, table: Mapping[str, Values]) -> bool:
    return all(getattr(scenario, name) in values for name, values in table.items())


def _hint(name: str, names: Iterable[str]) -> str:
    try:
        return nearest(name, names)
    except ValueError as error:
        return str(error)
