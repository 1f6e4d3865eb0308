"""How first, second, third and the worst are told apart without colour."""

from wola.report.layout import Cell

MARKS = {1: "¹", 2: "²", 3: "³"}

#: Stands after the worst of a column.
WORST_SIGN = "▼"


def marked(cell: Cell) -> str:
    """The text of a cell, with a raised figure for the first three places, or the worst's sign.

    >>> marked(Cell("78.6 (0.6)", rank=2)), marked(Cell("78.6 (0.6)", rank=4))
    ('78.6 (0.6)²', '78.6 (0.6)')
    """
    return cell.text + MARKS.get(cell.rank or 0, "") + WORST_SIGN * cell.worst
