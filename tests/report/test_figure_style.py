"""Styles of figures: their texts, their sizes, and what they refuse."""

import pytest

from wola.parts import PartError
from wola.report.figure_style import FigureStyle, Paper, Screen, Slides, figure_style


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("screen", Screen()),
        ("paper", Paper(width=3.3, font=8)),
        ("paper(width=6.9)", Paper(width=6.9)),
        ("paper(width=5.5, font=9)", Paper(width=5.5, font=9)),
        ("slides", Slides()),
    ],
)
def test_a_text_is_a_style(text: str, style: FigureStyle) -> None:
    assert figure_style(text) == style


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("papper", "--style = 'papper'; did you mean 'paper'? allowed: screen, paper, slides"),
        ("paper(width=1)", "width = 1.0; allowed: a finite number >= 2 and < 50"),
        ("paper(wide=3)", "paper has no parameter 'wide'"),
        ("slides(font=3)", "font = 3.0; allowed: a finite number >= 6 and < 50"),
        ("slides(height=99)", "height = 99.0; allowed"),
        ("paper+slides", "allowed: one style"),
    ],
)
def test_what_is_no_style_is_refused(text: str, said: str) -> None:
    with pytest.raises(PartError) as error:
        figure_style(text, name="--style")
    assert said in str(error.value)


def test_small_text_stays_readable() -> None:
    for style in (Screen(), Paper(), Slides(), Paper(font=6)):
        assert style.title > style.font >= style.note >= style.small >= style.number >= 6


def test_as_many_panels_stand_side_by_side_as_have_room() -> None:
    assert [Paper(width=width).across(9, 2.5) for width in (2.0, 3.3, 5.0, 6.9)] == [1, 2, 3, 4]
    assert Screen().across(9, 2.5) == Slides().across(9, 2.5) == 9


def test_a_figure_of_a_column_is_narrow() -> None:
    assert Paper().narrow
    assert not any(style.narrow for style in (Paper(width=6.9), Screen(), Slides()))
