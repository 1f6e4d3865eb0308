"""The demonstration's tables as they are printed."""

from io import StringIO

from rich.console import Console

from tests.cli.made_up import PLAN, by_strategy, made_up
from wola.cli.demo.scores import boards
from wola.cli.demo.table import board_table


def printed(*, terminal: bool = False, width: int = 110) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=terminal)
    console.print(board_table(boards(PLAN, made_up(PLAN, by_strategy))[0], width=width))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_a_table_has_a_row_per_strategy_and_a_column_per_attack():
    lines = [line.split() for line in printed().splitlines() if line.strip()]

    assert lines[0] == ["trimmed-mean"]
    assert lines[1] == ["strategy", "ALIE", "Mimic", "mean", "worst"]
    assert [line[0] for line in lines[3:]] == list(PLAN.strategies)


def test_the_best_three_of_each_column_are_marked_without_colour_too():
    rows = [line for line in printed().splitlines() if line.startswith((" -", " NNM", " WoLA"))]

    assert [row.count(mark) for row, mark in zip(rows, " ³²¹", strict=True)][1:] == [4, 4, 4]
    assert not set("¹²³") & set(rows[0])
    assert "40.5 (0.7)¹" in rows[3]


def test_a_narrow_terminal_gets_no_spread_and_no_folded_cells():
    text = printed(width=80)

    assert "(" not in text
    assert "40.5¹" in text
    assert len([line for line in text.splitlines() if line.strip()]) == 7


def test_a_terminal_gets_colours_and_a_pipe_none():
    assert "\x1b[" in printed(terminal=True)
    assert "\x1b[" not in printed()
