"""The axes of a table: a field of the runs, their strategy, or a parameter of their parts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wola.ground.names import nearest
from wola.report.names import in_order, parts_in_order
from wola.report.parameters import (
    PART_FIELDS,
    parameter_values,
    parameters_in,
    value_order,
)
from wola.report.runs import Runs, values
from wola.report.short_names import short_names, short_strategies
from wola.training import STRATEGIES, Scenario

#: The columns of runs that can be an axis.
AXIS_FIELDS = ("strategy", *Scenario.model_fields, "setting")

_TITLES = {"byzantine": "f"}
_SEVERAL = {"strategy": "strategies", "byzantine": "values of f", "alpha": "values of alpha"}


class UnknownAxis(ValueError):
    """A name that is no axis of the runs; the message says which are."""


@dataclass(frozen=True)
class Axis:
    """What tells the rows or the columns of a table apart.

    `field` is the column of the runs; with `parameter`, that one of the part which the field names.
    """

    name: str
    field: str
    parameter: str = ""

    @property
    def title(self) -> str:
        """What stands above the values.

        >>> Axis("byzantine", "byzantine").title, Axis("local_steps", "local_steps").title
        ('f', 'local steps')
        """
        return _TITLES.get(self.name, self.name.replace("_", " "))

    def ordered(self, found: Iterable[Any]) -> list[Any]:
        """Each value once: as in the paper, else by size or alphabet; alpha from weak skew on.

        >>> Axis("alpha", "alpha").ordered([0.3, 3.0]), Axis("seed", "seed").ordered([2, 1])
        ([3.0, 0.3], [1, 2])
        """
        if self.parameter:
            return sorted(set(found), key=value_order)
        if self.field == "strategy":
            return in_order(found, STRATEGIES)
        if self.field in PART_FIELDS:
            return parts_in_order(found)
        there = sorted(value for value in set(found) if value is not None)
        missing = [None] if None in set(found) else []
        return missing + (there[::-1] if self.field == "alpha" else there)

    def shown(self, found: Iterable[Any], own: Iterable[str] = ()) -> dict[Any, str]:
        """How values that meet are called; `own` are the strategies of one's own."""
        each = list(dict.fromkeys(found))
        if self.parameter:
            return {value: value for value in each}
        if self.field == "strategy":
            return dict(short_strategies(each, own))
        if self.field in PART_FIELDS:
            return dict(short_names(each))
        return {value: _plain(value) for value in each}

    def headed(self, found: Iterable[Any], own: Iterable[str] = ()) -> dict[Any, str]:
        """The same as headings of columns, which say what the values are of.

        >>> Axis("byzantine", "byzantine").headed([2]), Axis("attack", "attack").headed(["sf"])
        ({2: 'f = 2'}, {'sf': 'SF'})
        """
        names = self.shown(found, own)
        if self.parameter or self.field not in ("strategy", "setting", *PART_FIELDS):
            return {value: f"{self.title} = {name}" for value, name in names.items()}
        return names


def axis_named(name: str, runs: Runs) -> Axis:
    """The axis of a name: a field, "strategy", "setting", or a parameter of the runs' parts.

    A parameter is ``power``, or ``aggregator.power`` where several kinds of parts have one of that
    name. `UnknownAxis`, with the nearest names, if there is none.
    """
    plain = name.strip().replace("-", "_")
    field, _, parameter = plain.rpartition(".")
    fields = [] if plain in AXIS_FIELDS else [f for f in PART_FIELDS if field in ("", f)]
    for written in (True, False):
        having = [f for f in fields if parameter in _parameters(runs, f, written=written)]
        if len(having) == 1:
            return Axis(plain, having[0], parameter)
        if having:
            allowed = ", ".join(f"{field}.{parameter}" for field in having)
            raise UnknownAxis(f"{len(having)} kinds of parts have one; allowed: {allowed}")
    there = {key for field in PART_FIELDS for key in _parameters(runs, field)}
    try:
        known = nearest(plain, dict.fromkeys([*AXIS_FIELDS, *sorted(there)]))
    except ValueError as error:
        raise UnknownAxis(str(error)) from None
    return Axis(known, known)


def with_axes(table: pl.DataFrame, axes: Sequence[Axis]) -> pl.DataFrame:
    """The table with a column of texts for each axis that is a parameter.

    >>> table = pl.DataFrame({"aggregator": ["krum(power=1)", "median"]})
    >>> with_axes(table, [Axis("power", "aggregator", "power")])["power"].to_list()
    ['1', '-']
    """
    for axis in axes:
        if axis.parameter:
            found = parameter_values(axis.field, axis.parameter, table[axis.field].unique())
            column = pl.col(axis.field).replace_strict(found, return_dtype=pl.String)
            table = table.with_columns(column.alias(axis.name))
    return table


def several(axis: str, number: int) -> str:
    """So many values of an axis, in words.

    >>> several("attack", 5), several("byzantine", 2), several("local_steps", 2)
    ('5 attacks', '2 values of f', '2 values of local steps')
    """
    words = axis.replace("_", " ")
    if number == 1:
        return f"1 {words}"
    many = f"{words}s" if axis in (*PART_FIELDS, "seed", "setting") else f"values of {words}"
    return f"{number} {_SEVERAL.get(axis, many)}"


def _parameters(runs: Runs, field: str, *, written: bool = False) -> list[str]:
    return parameters_in(field, values(runs, field), written=written)


def _plain(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value:.12g}" if isinstance(value, float) else str(value) or "as in the paper"
