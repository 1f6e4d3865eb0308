"""Styles of figures: how wide, how large their text, and whether the title stands above them."""

from dataclasses import dataclass
from functools import cache

from wola.ground.checks import check_number
from wola.parts import Catalogue, Kind

# Text below this is no longer read on paper, whatever the size of the rest.
_SMALLEST = 6.0


@dataclass(frozen=True)
class FigureStyle:
    """The width and height of a figure in inches, the size of its text, and where its title goes.

    Without a width or height a figure is as large as its panels need. `font` is the size of labels
    in points; smaller text follows from it. `titled` writes the title into the figure; otherwise
    it is left for the caption. `dots` per inch are those of a PNG.

    >>> Paper().width, Paper(width=5.5).font, Slides().titled
    (3.3, 8.0, True)
    """

    width: float | None = None
    height: float | None = None
    font: float = 10.0
    titled: bool = True
    dots: int = 160

    def __post_init__(self) -> None:
        if self.width is not None:
            check_number("width", self.width, least=2, below=50)
        if self.height is not None:
            check_number("height", self.height, least=2, below=50)
        check_number("font", self.font, least=_SMALLEST, below=50)
        check_number("dots", self.dots, least=50, below=2000)

    @property
    def scale(self) -> float:
        """How large everything is, as a multiple of its size on a screen.

        >>> FigureStyle(font=20).scale
        2.0
        """
        return self.font / 10

    @property
    def title(self) -> float:
        """The size of the title in points."""
        return 1.1 * self.font

    @property
    def note(self) -> float:
        """The size of legends and ticks in points."""
        return max(0.9 * self.font, _SMALLEST)

    @property
    def small(self) -> float:
        """The size of names along a map in points."""
        return max(0.8 * self.font, _SMALLEST)

    @property
    def number(self) -> float:
        """The size of numbers in the cells of a map in points."""
        return max(0.7 * self.font, _SMALLEST)

    @property
    def line(self) -> float:
        """The height of a line of small text in inches."""
        return 1.45 * self.note / 72

    @property
    def narrow(self) -> bool:
        """Whether the figure is a column wide: scales of colour then go below the panels."""
        return self.width is not None and self.width < 5 * self.scale

    def across(self, panels: int, width: float) -> int:
        """How many of some panels stand side by side, each so many inches wide on a screen.

        They may shrink to two thirds of that before the next one goes to the next row. A figure
        of a given height has no room for more rows.

        >>> FigureStyle().across(7, 2.5), Paper().across(7, 2.5), Slides().across(7, 2.5)
        (7, 2, 7)
        """
        if self.width is None or self.height is not None:
            return panels
        return max(
            1, min(panels, int((self.width - 0.6 * self.scale) / (0.65 * width * self.scale)))
        )


@dataclass(frozen=True)
class Screen(FigureStyle):
    """As large as its panels need, with its title: for reading on a screen."""


@dataclass(frozen=True)
class Paper(FigureStyle):
    """A column or text width of a paper in inches, small text, no title: its caption tells it."""

    width: float | None = 3.3
    font: float = 8.0
    titled: bool = False
    dots: int = 300


@dataclass(frozen=True)
class Slides(FigureStyle):
    """A whole slide of 16:9 with large text."""

    width: float | None = 40 / 3
    height: float | None = 7.5
    font: float = 18.0
    dots: int = 144


#: What a figure is drawn in unless told otherwise.
SCREEN = Screen()

#: The styles by name.
FIGURE_STYLES = {"screen": Screen, "paper": Paper, "slides": Slides}


def figure_style(given: str | FigureStyle, *, name: str = "style") -> FigureStyle:
    """The style that a text names: `screen`, `paper`, `paper(width=6.9)`, `slides`; or itself.

    `name` is what an error calls it.

    >>> figure_style("paper(width=6.9)").width
    6.9
    >>> figure_style("papper")
    Traceback (most recent call last):
    ...
    wola.parts.kind.PartError: style = 'papper'; did you mean 'paper'? allowed: screen, paper, \
slides, or pkg.module:Name
    """
    if isinstance(given, FigureStyle):
        return given
    made = _catalogue().make("style", _catalogue().settle("style", given, name))
    assert isinstance(made, FigureStyle)
    return made


@cache
def _catalogue() -> Catalogue:
    return Catalogue([Kind("style", FIGURE_STYLES, (FigureStyle,))])
