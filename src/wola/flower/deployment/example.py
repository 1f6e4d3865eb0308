"""Where the example app is: in the checkout, or in the installed package."""

from pathlib import Path

import wola.flower


def example_app() -> Path:
    """The folder of the example app, which `flwr run` takes.

    An installed package holds it as ``wola/flower/example``, a checkout as
    ``examples/flower/app``.

    >>> (example_app() / "pyproject.toml").is_file()
    True
    """
    package = Path(wola.flower.__file__).parent
    places = [package / "example", package.parents[2] / "examples" / "flower" / "app"]
    for place in places:
        if (place / "pyproject.toml").is_file():
            return place
    listed = " nor in ".join(str(place) for place in places)
    raise FileNotFoundError(f"the example app is neither in {listed}")
