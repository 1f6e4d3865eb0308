"""A section of a report: runs that may stand in one table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from wola.report.axes import Axis
from wola.report.expected import APART, COORDINATES
from wola.report.names import file_word, part_word, parts_in_order
from wola.report.runs import Runs, values
from wola.report.settings import content_versions, settings_of
from wola.report.short_names import short_names, short_strategies


@dataclass(frozen=True)
class Section:
    """Runs that share tables: one dataset, one setting, all with Byzantine workers or all without.

    In a table with rows or columns of datasets or settings, these are None. `partial` asks for
    means over the runs that are there where some are missing.
    """

    dataset: str | None
    setting: str | None
    attacked: bool
    runs: Runs
    partial: bool = False

    @cached_property
    def shown(self) -> dict[str, dict[str, str]]:
        """How the aggregators and the attacks are called here, by axis."""
        return {axis: short_names(values(self.runs, axis)) for axis in ("aggregator", "attack")}

    @cached_property
    def strategies(self) -> dict[str, str]:
        """How the strategies are called here."""
        return short_strategies(values(self.runs, "strategy"), self.runs.strategies)

    def name(self, kind: str) -> str:
        """What files of this section are called."""
        attacked = "" if self.attacked else "without-byzantine"
        dataset = part_word(self.dataset) if self.dataset else ""
        words = (kind, dataset, attacked, file_word(self.setting or ""))
        return "-".join(word for word in words if word)

    def title(self, what: str) -> str:
        """A heading: the dataset, what is shown, and the setting if it is not the paper's."""
        honest = "" if self.attacked else ", without Byzantine workers"
        dataset = f"{short_names([self.dataset])[self.dataset]}: " if self.dataset else ""
        setting = f" (setting: {self.setting})" if self.setting else ""
        return f"{dataset}{what}{honest}{setting}"

    def notes(self, *more: str, spread: str = "mean (standard deviation)") -> tuple[str, ...]:
        """What every table says below: the seeds, what more there is to say, one's own strategies.

        A strategy of one's own is told by the fields it sets.
        """
        seeds = values(self.runs, "seed")
        many = "seeds" if len(seeds) > 1 else "seed"
        own = [
            f"{name}: {', '.join(f'{k} {v}' for k, v in sets.items())}"
            for name, sets in self.runs.strategies.items()
            if name in self.strategies
        ]
        return (f"{spread} over {len(seeds)} {many} ({', '.join(map(str, seeds))})", *more, *own)

    def listed(self, axis: str) -> str:
        """The aggregators or attacks of the runs by their short names, the paper's first."""
        return ", ".join(self.shown[axis][text] for text in parts_in_order(values(self.runs, axis)))


def sections(runs: Runs, *, partial: bool = False, axes: Sequence[Axis] = ()) -> list[Section]:
    """The runs by what may stand in one table; what is on one of the `axes` may differ in it."""
    fields = {axis.field for axis in axes} - set(COORDINATES)
    runs = _set_aside(runs, frozenset(fields.difference(APART)))
    apart = [name for name in APART if name not in fields]
    found = []
    for place, some in runs.grouped(*apart) if apart else [((), runs)]:
        shared = dict(zip(apart, place, strict=True))
        counts = values(some, "byzantine")
        for attacked in (False, True):
            if these := [f for f in counts if (f > 0) == attacked]:
                here = some.where(byzantine=these)
                where = (shared.get("dataset"), shared.get("setting"))
                found.append(Section(*where, attacked, here, partial))
    return found


def _set_aside(runs: Runs, fields: frozenset[str]) -> Runs:
    """The runs with settings that say nothing of some fields."""
    if not fields:
        return runs
    versions = content_versions(runs.table["content"].to_list())
    changed = frozenset(name for name, found in versions.items() if len(found) > 1)

    def changed_settings(table: pl.DataFrame) -> pl.DataFrame:
        rows = list(table.iter_rows(named=True))
        made = settings_of(rows, runs.strategies, changed, fields)
        return table.with_columns(pl.Series("setting", [s.text for s in made], pl.String))

    # In one table, since a strategy of one's own takes the setting of runs that are like its own.
    both = changed_settings(pl.concat([runs.table, runs.failed]))
    done = len(runs.table)
    return replace(runs, table=both[:done], failed=both[done:])
