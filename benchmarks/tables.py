"""Tables of a measurement in Markdown: times, ratios, agreement, and the goals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.timing import Spread, spread

WOLA, READ, PRODUCT = "wola", "read pass", "matrix product"
PEER_NAMES = ("ByzFL torch", "ByzFL NumPy", "ByzPy")


@dataclass(frozen=True)
class Cell:
    """What was measured of one work at one n and d."""

    work: str
    n: int
    f: int
    d: int
    seconds: dict[str, list[float]]
    differences: dict[str, float]
    tolerance: float
    skipped: dict[str, str]
    notes: list[str]

    def spread(self, name: str) -> Spread:
        """Median and quartiles of one library's seconds."""
        return spread(self.seconds[name])

    def ratio(self, name: str) -> float | None:
        """How many times as long as wola a library takes; None if it was not measured."""
        if name not in self.seconds:
            return None
        return self.spread(name).median / self.spread(WOLA).median

    def multiple(self, reference: str) -> float:
        """How many times as long as a reference wola takes."""
        return self.spread(WOLA).median / self.spread(reference).median

    def apart(self) -> dict[str, float]:
        """The differences that are not within the tolerance; one that is NaN is not."""
        return {k: value for k, value in self.differences.items() if not value <= self.tolerance}

    def agrees(self) -> bool:
        """Whether every answer compared is within the tolerance."""
        return not self.apart()


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table: the first column to the left, the others to the right.

    >>> print(markdown_table(["work", "ms"], [["median", "1.2"]]))
    | work | ms |
    |:---|---:|
    | median | 1.2 |
    """
    rule = ":---|" + "---:|" * (len(head) - 1)
    lines = [f"| {' | '.join(head)} |", f"|{rule}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def significant(value: float) -> str:
    """A number short enough for a table: three digits, or all before the point.

    >>> [significant(v) for v in (0.01234, 1.234, 56.78, 1234.5)]
    ['0.0123', '1.23', '56.8', '1,234']
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}"


def milliseconds(times: Spread) -> str:
    """Median and, in brackets, quartiles."""
    low, median, high = (significant(1e3 * t) for t in (times.low, times.median, times.high))
    return f"{median} ({low} to {high})"


class Footnotes:
    """Remarks numbered in the order in which they first appear."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, remark: str) -> str:
        """The mark that refers to a remark."""
        return f"[{self._numbers.setdefault(remark, len(self._numbers) + 1)}]"

    def text(self) -> str:
        """All remarks, one a line."""
        return "\n".join(f"- [{number}] {remark}" for remark, number in self._numbers.items())


def ratio_table(cells: Sequence[Cell]) -> str:
    """How many times as long the peers take, and wola against the references, with remarks."""
    notes = Footnotes()
    head = ["work", "wola ms", *PEER_NAMES, "x read pass", "x matrix product", "difference"]
    rows = []
    for cell in cells:
        marks = " ".join(notes.mark(note) for note in cell.notes)
        rows.append(
            [
                f"{cell.work} {marks}".strip(),
                significant(1e3 * cell.spread(WOLA).median),
                *[_ratio(cell, name, notes) for name in PEER_NAMES],
                significant(cell.multiple(READ)),
                significant(cell.multiple(PRODUCT)),
                _difference(cell, notes),
            ]
        )
    return "\n\n".join(part for part in (markdown_table(head, rows), notes.text()) if part)


def _ratio(cell: Cell, name: str, notes: Footnotes) -> str:
    ratio = cell.ratio(name)
    if ratio is not None:
        return f"{significant(ratio)}x"
    reason = cell.skipped.get(name)
    return notes.mark(f"{name}, {cell.work}: {reason}.") if reason else "-"


def _difference(cell: Cell, notes: Footnotes) -> str:
    if not cell.differences:
        return "-"
    largest = f"{max(cell.differences.values()):.0e}"
    if cell.agrees():
        return largest
    apart = "; ".join(f"{name} {value:.1e}" for name, value in cell.apart().items())
    return f"**{largest}** {notes.mark(f'{cell.work}: the answers disagree: {apart}.')}"


def time_table(cells: Sequence[Cell]) -> str:
    """Milliseconds of CPU time, median and quartiles, of everything measured."""
    columns = (WOLA, *PEER_NAMES, READ, PRODUCT)
    rows = [
        [
            cell.work,
            *[milliseconds(cell.spread(c)) if c in cell.seconds else "-" for c in columns],
        ]
        for cell in cells
    ]
    return markdown_table(["work", *columns], rows)


def disagreements(cells: Iterable[Cell]) -> str:
    """One sentence on whether all answers agreed, or the list of those that did not."""
    apart = [cell for cell in cells if not cell.agrees()]
    if not apart:
        return "All answers compared agree within the tolerance."
    lines = [
        f"- {cell.work}, n = {cell.n}, d = {cell.d:,}: {name} differs by {value:.1e} "
        f"(tolerance {cell.tolerance:.0e})"
        for cell in apart
        for name, value in cell.apart().items()
    ]
    return "\n".join(["These answers disagree:", "", *lines])
