"""Figures as files: letters stay letters, and a figure without title has a caption."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from wola.report.figure_files import figure_bytes, save


def test_a_pdf_embeds_its_fonts_as_truetype() -> None:
    figure = Figure()
    figure.text(0.5, 0.5, "words")
    made = figure_bytes(figure, "pdf", salt="a")
    assert b"/FontFile2" in made
    assert b"/Subtype /Type3" not in made


def test_an_svg_keeps_its_words() -> None:
    figure = Figure()
    figure.text(0.5, 0.5, "words")
    assert b">words</text>" in figure_bytes(figure, "svg", salt="a")


def test_only_a_figure_without_title_gets_its_caption_as_a_text(tmp_path: Path) -> None:
    untitled, titled = Figure(), Figure()
    for figure in (untitled, titled):
        figure.set_label("What one sees")
    titled.suptitle("What one sees")
    (_, caption) = save(untitled, tmp_path, "a", ["png"])
    assert caption.read_text() == "What one sees\n"
    assert save(titled, tmp_path, "b", ["png"]) == [tmp_path / "b.png"]


def test_an_unknown_form_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="form = 'gif'; allowed: pdf, svg, png"):
        save(Figure(), tmp_path, "a", ["png", "gif"])
    assert list(tmp_path.iterdir()) == []
