"""A section of a report: runs that may stand in one table."""

from dataclasses import dataclass
from functools import cached_property

from wola.report.names import file_word, part_word, parts_in_order
from wola.report.runs import Runs, values
from wola.report.short_names import short_names, short_strategies


@dataclass(frozen=True)
class Section:
    """Runs that share tables: one dataset, one setting, all with Byzantine workers or all without.

    `partial` asks for means over the runs that are there where some are missing.
    """

    dataset: str
    setting: str
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
        words = (kind, part_word(self.dataset), attacked, file_word(self.setting))
        return "-".join(word for word in words if word)

    def title(self, what: str) -> str:
        """A heading: the dataset, what is shown, and the setting if it is not the paper's."""
        honest = "" if self.attacked else ", without Byzantine workers"
        return f"{short_names([self.dataset])[self.dataset]}: {what}{honest}" + (
            f" (setting: {self.setting})" if self.setting else ""
        )

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


def sections(runs: Runs, *, partial: bool = False) -> list[Section]:
    """The runs by what may stand in one table."""
    found = []
    for (dataset, setting), some in runs.grouped("dataset", "setting"):
        counts = values(some, "byzantine")
        for attacked in (False, True):
            if these := [f for f in counts if (f > 0) == attacked]:
                here = some.where(byzantine=these)
                found.append(Section(dataset, setting, attacked, here, partial))
    return found
