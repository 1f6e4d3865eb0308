"""Which attack breaks which rule: attacks by rules or by strategies, with the worst marked."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial as with_options
from typing import Any

import polars as pl

from wola.report.arrangement import Arrangement
from wola.report.averages import diverged, gaps, listed_averages
from wola.report.axes import Axis
from wola.report.layout import Block, Cell, Table, number
from wola.report.metrics import metric_named
from wola.report.scores import printed
from wola.report.section import Section

_ATTACK, _RULE, _STRATEGY = (Axis(name, name) for name in ("attack", "aggregator", "strategy"))


@dataclass(frozen=True, eq=False)
class AttackMatrix:
    """Numbers of a metric, a row per attack and a column per rule or strategy, by short names.

    `strategy` is the one whose rules these are, None where the columns are strategies.
    `numbers[i][j]` is the mean under attack i of column j, None while runs are missing;
    `worst[i][j]` says whether the attack is the worst of its column, as printed, and is false in a
    column with gaps. `over` says what the numbers are averaged over, and `cells` are the data, as
    `wola.report.scores.cell_scores` has them, with `worst`.
    """

    metric: str
    strategy: str | None
    attacks: tuple[str, ...]
    columns: tuple[str, ...]
    numbers: tuple[tuple[float | None, ...], ...]
    worst: tuple[tuple[bool, ...], ...]
    over: str
    cells: pl.DataFrame

    def worst_attacks(self) -> dict[str, tuple[list[str], float]]:
        """The worst attacks of each column that has all its runs, and the number under them."""
        found: dict[str, tuple[list[str], float]] = {}
        for place, column in enumerate(self.columns):
            rows = [i for i in range(len(self.attacks)) if self.worst[i][place]]
            numbers = [n for i in rows if (n := self.numbers[i][place]) is not None]
            if numbers:
                found[column] = ([self.attacks[i] for i in rows], numbers[0])
        return found

    def sentence(self) -> str:
        """Which attack is the worst for which column, in words."""
        digits, by_attack = metric_named(self.metric).digits, dict[str, list[str]]()
        for column, (attacks, value) in self.worst_attacks().items():
            told = f"{column} ({value:.{digits}f})"
            by_attack.setdefault(" and ".join(attacks), []).append(told)
        if not by_attack:
            return "No column has all its runs yet, so no attack is the worst."
        pieces = [f"{attack} for {', '.join(told)}" for attack, told in by_attack.items()]
        return f"The worst attack is {'; '.join(pieces)}."


def attack_by_rule(section: Section, *, metric: str = "accuracy") -> list[AttackMatrix]:
    """Attacks by rules, a matrix per strategy; without runs of a strategy's own rules, none."""
    made = []
    for strategy in _STRATEGY.ordered(section.strategies):
        own = replace(section, runs=section.runs.where(strategy=[strategy]))
        found = _matrix(own, _RULE, metric, names=section.shown["aggregator"])
        made.append(replace(found, strategy=section.strategies[strategy]))
    return made


def attack_by_strategy(section: Section, *, metric: str = "accuracy") -> AttackMatrix:
    """Attacks by strategies, averaged over rules."""
    return _matrix(section, _STRATEGY, metric, names=section.strategies)


def matrix_tables(section: Section, *, metric: str = "accuracy") -> Iterator[Table]:
    """The matrices of a section as tables: attacks by rules for each strategy, then by strategies.

    Nothing where nobody attacks; no table of one column beside a wider one.
    """
    if not section.attacked:
        return
    rules, strategies = len(section.shown["aggregator"]), len(section.strategies)
    if rules > 1 or strategies == 1:
        yield _table(section, attack_by_rule(section, metric=metric), _RULE)
    if strategies > 1:
        yield _table(section, [attack_by_strategy(section, metric=metric)], _STRATEGY)


def _matrix(section: Section, columns: Axis, metric: str, names: dict[str, str]) -> AttackMatrix:
    form, known = Arrangement(section, _ATTACK, (columns,)), metric_named(metric)
    cells = form.scores(metric)
    shown = printed(cells["mean"], known.digits).alias("shown")
    end = pl.col("shown").max() if known.lower_is_better else pl.col("shown").min()
    worst = (pl.col("shown") == end) & pl.col("complete").all()
    cells = cells.with_columns(shown).with_columns(worst=worst.over(columns.name)).drop("shown")
    cells = cells.with_columns(pl.col("worst").fill_null(value=False))
    attacks, across = (a.ordered(cells[a.name]) for a in (_ATTACK, columns))
    places = {(r["attack"], r[columns.name]): r for r in cells.iter_rows(named=True)}

    def of(name: str, lacking: Any) -> tuple[tuple[Any, ...], ...]:
        empty = {name: lacking}
        return tuple(tuple(places.get((a, c), empty)[name] for c in across) for a in attacks)

    return AttackMatrix(
        metric=metric,
        strategy=None,
        attacks=tuple(section.shown["attack"][attack] for attack in attacks),
        columns=tuple(names[value] for value in across),
        numbers=of("mean", None),
        worst=of("worst", False),
        over=", ".join(filter(None, form.place("strategy"))),
        cells=cells,
    )


def _table(section: Section, matrices: list[AttackMatrix], columns: Axis) -> Table:
    known = metric_named(matrices[0].metric)
    form = Arrangement(section, _ATTACK, (columns,))
    cells = pl.concat(
        [
            m.cells if m.strategy is None else m.cells.with_columns(of_strategy=pl.lit(m.strategy))
            for m in matrices
        ]
    )
    labels = form.labels(cells)
    show = with_options(_cell, digits=known.digits)
    blocks: list[Block] = []
    sentences: list[str] = []
    for matrix in matrices:
        heading = matrix.strategy or ""
        blocks.append(form.block(heading, matrix.cells, labels, show))
        sentences.append(f"{heading}: {matrix.sentence()}" if heading else matrix.sentence())
    over = [matrices[0].over] if matrices[0].over else []
    noun = "rule" if columns is _RULE else "strategy"
    word = "" if matrices[0].metric == "accuracy" else f"{matrices[0].metric}-"
    mark = "lowest" if not known.lower_is_better else "highest"
    return Table(
        name=section.name(f"matrix-{word}{noun}"),
        title=section.title(", ".join([f"which attack breaks which {noun}: {known.title}", *over])),
        columns=form.headings(labels),
        blocks=tuple(blocks),
        notes=section.notes(
            *(listed_averages(form) if columns is _STRATEGY else ()),
            f"▼ the worst attack of a column, the {mark} number",
            *gaps(cells, section, matrices[0].metric),
            *diverged(cells),
        ),
        reading=" ".join(sentences),
        data=cells,
        rows="attack",
    )


def _cell(row: Any, *, digits: int) -> Cell:
    return replace(number(row, digits=digits), worst=bool(row["worst"]))
