"""The demonstration's tables, as the paper prints them: the best three of each column marked."""

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from wola.cli.demo.scores import MEAN, WORST, Board, Score
from wola.cli.names import attack_title

# The marks are read without colour too; the colours are the paper's gold, blue and red.
MARKS = {1: ("¹", "bold yellow"), 2: ("²", "bold blue"), 3: ("³", "bold red")}


# Below this width the cells have no room for the standard deviation.
WIDE = 104


def board_table(board: Board, *, width: int = WIDE) -> Table:
    """A board: mean (standard deviation over seeds), ¹ ² ³ for the best three of a column."""
    table = Table(
        title=board.title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("strategy", no_wrap=True)
    for column in board.columns:
        table.add_column(_heading(column), justify="right")
    ranks = {column: board.ranks(column) for column in board.columns}
    for strategy, row in board.rows.items():
        cells = [_cell(row[column], ranks[column][strategy], width) for column in board.columns]
        table.add_row(Text(strategy), *cells)
    return table


def _heading(column: str) -> str:
    return column if column in (MEAN, WORST) else attack_title(column)


def _cell(score: Score, rank: int, width: int) -> Text:
    mark, style = MARKS.get(rank, (" ", ""))
    spread = f" ({score.sd:.1f})" if width >= WIDE else ""
    return Text(f"{score.mean:.1f}{spread}{mark}", style=style)
