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


def test_a_name_without_a_format_is_refused():
    with pytest.raises(Refused, match="--out = 'a'"):
        check_picture(Path("a"))
