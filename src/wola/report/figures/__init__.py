"""Figures of a report: drawn from runs, written as vectors and PNG, or told why not."""

from wola.report.figures.drawing import (
    FIGURE_KINDS,
    Drawn,
    FigureKind,
    Undrawn,
    draw_all,
    file_name,
)
from wola.report.figures.panels import FIGURE_FORMS
from wola.report.figures.selection import CannotDraw

__all__ = [
    "FIGURE_FORMS",
    "FIGURE_KINDS",
    "CannotDraw",
    "Drawn",
    "FigureKind",
    "Undrawn",
    "draw_all",
    "file_name",
]
