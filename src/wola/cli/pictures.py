"""Pictures as files: whole, or not at all."""

from pathlib import Path

from matplotlib.figure import Figure

from wola.cli.errors import Refused
from wola.ground.files import write_whole

_DOTS_PER_INCH = 144
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
    """Writes a figure in the format of its name, at a resolution fit for a page.

    The same figure gives the same bytes; a PDF embeds its fonts.
    """
    # The rooms of a report need not be loaded to list and show data.
    from wola.report.figure_files import figure_bytes

    figure.set_dpi(_DOTS_PER_INCH)
    form = path.suffix.lower().removeprefix(".")
    write_whole(path, figure_bytes(figure, form, salt=path.stem))
