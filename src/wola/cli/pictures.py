"""Pictures as files: whole, or not at all."""

import io
from pathlib import Path

from matplotlib.figure import Figure

from wola.cli.errors import Refused
from wola.ground.files import write_whole

FORMATS = (".png", ".pdf", ".svg")


def check_picture(path: Path) -> Path:
    """The path, if a picture can have that name.

    >>> check_picture(Path("counts.xls"))
    Traceback (most recent call last):
    ...
    wola.cli.errors.Refused: --out = 'counts.xls'; allowed: a name ending in .png, .pdf or .svg
    """
    if path.suffix.lower() not in FORMATS:
        raise Refused(f"--out = {str(path)!r}; allowed: a name ending in .png, .pdf or .svg")
    return path


def save_picture(figure: Figure, path: Path) -> None:
    """Writes a figure in the format of its name, at a resolution fit for a page."""
    made = io.BytesIO()
    figure.savefig(made, format=path.suffix.lower().removeprefix("."), dpi=144)
    write_whole(path, made.getvalue())
