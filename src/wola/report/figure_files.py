"""Figures as files: the same figure gives the same bytes, and letters stay letters."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from wola.ground.files import write_whole

#: The forms a figure can be written in.
FIGURE_FORMS = ("pdf", "svg", "png")

_UNDATED: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def figure_bytes(figure: Figure, form: str, *, salt: str) -> bytes:
    """A figure in one of `FIGURE_FORMS`: fonts embedded as TrueType in a PDF, text in an SVG.

    `salt` is what the names inside an SVG are made from, so that two of them can share a page.

    >>> figure_bytes(Figure(), "png", salt="empty")[1:4]
    b'PNG'
    """
    if form not in FIGURE_FORMS:
        raise ValueError(f"form = {form!r}; allowed: {', '.join(FIGURE_FORMS)}")
    buffer = io.BytesIO()
    settings: Any = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": salt}
    with matplotlib.rc_context(settings):
        figure.savefig(buffer, format=form, metadata=_UNDATED[form], dpi=figure.get_dpi())
    return buffer.getvalue()


def save(figure: Figure, folder: Path, stem: str, forms: Sequence[str]) -> list[Path]:
    """Writes a figure in some forms; one without title also gets its caption, as `stem`.txt."""
    figure.draw_without_rendering()
    # The layout is found once, or every form would do it again.
    figure.set_layout_engine("none")
    made = {f"{stem}.{form}": figure_bytes(figure, form, salt=stem) for form in forms}
    if not figure.get_suptitle() and figure.get_label():
        made[f"{stem}.txt"] = f"{figure.get_label()}\n".encode()
    for name, content in made.items():
        write_whole(folder / name, content)
    return [folder / name for name in made]
