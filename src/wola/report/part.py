"""Runs that may stand in one table."""

from dataclasses import dataclass

from wola.report.names import AGGREGATORS, ATTACKS, file_word, in_order, title
from wola.report.runs import Runs, values


@dataclass(frozen=True)
class Part:
    """Runs that share tables: one dataset, one setting, all with Byzantine workers or all without.

    `partial` asks for means over the runs that are there where some are missing.
    """

    dataset: str
    setting: str
    attacked: bool
    runs: Runs
    partial: bool = False

    def name(self, kind: str) -> str:
        """What files of this part are called."""
        attacked = "" if self.attacked else "without-byzantine"
        words = (kind, self.dataset, attacked, file_word(self.setting))
        return "-".join(word for word in words if word)

    def title(self, what: str) -> str:
        """A heading: the dataset, what is shown, and the setting if it is not the paper's."""
        honest = "" if self.attacked else ", without Byzantine workers"
        return f"{title(self.dataset)}: {what}{honest}" + (
            f" (setting: {self.setting})" if self.setting else ""
        )

    def notes(self, *more: str, spread: str = "mean (standard deviation)") -> tuple[str, ...]:
        """What every table says below: the seeds first, then what more there is to say."""
        seeds = values(self.runs, "seed")
        many = "seeds" if len(seeds) > 1 else "seed"
        return (f"{spread} over {len(seeds)} {many} ({', '.join(map(str, seeds))})", *more)

    def listed(self, axis: str) -> str:
        """The aggregators or attacks of the runs, as the paper names them."""
        known = {"aggregator": AGGREGATORS, "attack": ATTACKS}[axis]
        return ", ".join(map(title, in_order(values(self.runs, axis), known)))


def parts(runs: Runs, *, partial: bool = False) -> list[Part]:
    """The runs by what may stand in one table."""
    found = []
    for (dataset, setting), some in runs.parts("dataset", "setting"):
        counts = values(some, "byzantine")
        for attacked in (False, True):
            if these := [f for f in counts if (f > 0) == attacked]:
                here = some.where(byzantine=these)
                found.append(Part(dataset, setting, attacked, here, partial))
    return found
