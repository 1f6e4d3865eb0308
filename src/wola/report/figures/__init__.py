"""Figures of a report: drawn from runs, written as vectors and PNG, or told why not."""

from wola.report.figure_files import FIGURE_FORMS
from wola.report.figure_style import (
    FIGURE_STYLES,
    FigureStyle,
    Paper,
    Screen,
    Slides,
    figure_style,
)
from wola.report.figures.drawing import (
    FIGURE_KINDS,
    Drawn,
    FigureKind,
    Undrawn,
    draw_all,
    file_name,
)
from wola.report.figures.selection import CannotDraw

__all__ = [
    "FIGURE_FORMS",
    "FIGURE_KINDS",
    "FIGURE_STYLES",
    "CannotDraw",
    "Drawn",
    "FigureKind",
    "FigureStyle",
    "Paper",
    "Screen",
    "Slides",
    "Undrawn",
    "draw_all",
    "figure_style",
    "file_name",
]
