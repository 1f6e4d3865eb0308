"""Figures of a report: drawn from runs, written as vectors and PNG, or told why not."""

from wola.report.figures.cells import CannotDraw
from wola.report.figures.drawing import FIGURES, Drawn, Kind, Undrawn, draw_all, file_name
from wola.report.figures.sheet import FORMS

__all__ = ["FIGURES", "FORMS", "CannotDraw", "Drawn", "Kind", "Undrawn", "draw_all", "file_name"]
