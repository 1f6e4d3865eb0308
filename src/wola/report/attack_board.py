"""The board of one place: strategies by attack, the mean over attacks and the worst of them."""

from collections.abc import Iterable
from functools import partial as with_options

import polars as pl

from wola.report.layout import Block, Cell, Table, number
from wola.report.metrics import METRICS
from wola.report.names import file_word, in_order, parts_in_order
from wola.report.runs import Runs, values
from wola.report.scores import ranked, scores
from wola.report.section import Section, sections
from wola.training import STRATEGIES

_DIGITS = METRICS["accuracy"].digits


def attack_boards(runs: Runs) -> list[Table]:
    """A board per aggregator, then one over all, for runs of one dataset, setting, alpha and f.

    A row is a strategy, a column an attack; the last two are the mean over attacks and the worst
    case, the attack with the lowest mean over seeds, chosen for each aggregator.
    """
    (section,) = sections(runs)
    single = parts_in_order(values(runs, "aggregator"))
    rules: dict[str, Iterable[str]] = {section.shown["aggregator"][name]: [name] for name in single}
    return [_board(section, name, some) for name, some in {**rules, "all rules": single}.items()]


def worst_and_mean(runs: Runs) -> dict[str, tuple[float, float]]:
    """Each strategy's accuracy in the worst case and over all attacks, in percent."""
    worst, mean = (scores(runs, summary=s) for s in ("worst", "global"))
    return dict(zip(mean["strategy"], zip(worst["mean"], mean["mean"], strict=True), strict=True))


def _board(section: Section, name: str, aggregators: Iterable[str]) -> Table:
    runs = section.runs.where(aggregator=list(aggregators))
    by_attack = ranked(scores(runs, by=("attack",)), by=("attack",))
    cells = {
        attack: by_attack.filter(pl.col("attack") == attack)
        for attack in parts_in_order(by_attack["attack"])
    }
    columns = [("attack", section.shown["attack"][attack]) for attack in cells]
    for summary in ("mean", "worst"):
        columns.append(("all attacks", summary))
        cells[summary] = ranked(scores(runs, summary="worst" if summary == "worst" else "global"))
    show = with_options(number, digits=_DIGITS)
    shown = {
        column: {row["strategy"]: show(row) for row in some.iter_rows(named=True)}
        for column, some in cells.items()
    }
    rows: dict[str, tuple[Cell, ...]] = {
        section.strategies[strategy]: tuple(
            column.get(strategy, Cell("")) for column in shown.values()
        )
        for strategy in in_order(by_attack["strategy"], STRATEGIES)
    }
    return Table(
        name=section.name(f"board-{file_word(name)}"),
        title=section.title(f"accuracy in %, {name}"),
        columns=tuple(columns),
        blocks=(Block("", rows),),
        notes=(),
        reading="",
        data=by_attack,
    )
