"""Pictures as files."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from wola.cli.errors import Refused
from wola.cli.pictures import check_picture, save_picture


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.PDF", b"%PDF")])
def test_the_name_decides_the_format(tmp_path, name, start):
    save_picture(Figure(), check_picture(tmp_path / name))

    assert (tmp_path / name).read_bytes().startswith(start)


def test_the_same_picture_has_the_same_bytes_and_a_pdf_its_fonts(tmp_path):
    made = []
    for name in ("a.pdf", "b.pdf"):
        figure = Figure()
        figure.text(0.5, 0.5, "words")
        save_picture(figure, tmp_path / name)
        made.append((tmp_path / name).read_bytes())

    assert made[0] == made[1]
    assert b"/FontFile2" in made[0]
    assert b"/Type3" not in made[0]


def test_a_name_without_a_format_is_refused():
    with pytest.raises(Refused, match="--out = 'a'"):
        check_picture(Path("a"))
