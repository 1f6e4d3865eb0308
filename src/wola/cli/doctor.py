"""`wola doctor`: what is installed, which data is there, threads, devices, folders."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wola.bench.executors.local import cores
from wola.cli.data import whereabouts
from wola.cli.screen import say_json, screen
from wola.data import DATASETS
from wola.ground.folders import cache_folder, kernel_folder

PACKAGES = (
    "wola", "torch", "numba", "numpy", "scikit-learn", "pydantic", "polars", "safetensors",
    "matplotlib", "typer", "rich", "pooch", "flwr", "ray", "submitit", "tensorboard",
    "mlflow-skinny", "wandb",
)  # fmt: skip


def devices() -> list[str]:
    """The devices a scenario can name here.

    >>> devices()[0]
    'cpu'
    """
    cards = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    apple = ["mps"] if torch.backends.mps.is_available() else []
    return ["cpu", *(["cuda"] if cards else []), *cards, *apple]


def installed(package: str) -> str:
    """The version of a package, or that it is missing.

    >>> installed("no-such-package")
    'not installed'
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def facts() -> dict[str, dict[str, str]]:
    """What is installed, which data are there, and what the machine offers, by title.

    >>> list(facts())
    ['versions', 'data', 'machine']
    """
    kernels = os.environ.get("NUMBA_CACHE_DIR")
    return {
        "versions": {
            "python": platform.python_version(),
            **{name: installed(name) for name in PACKAGES},
        },
        "data": {name: whereabouts(name) for name in DATASETS},
        "machine": {
            "system": platform.platform(),
            "cores": str(cores()),
            "threads": f"{torch.get_num_threads()} in PyTorch by default; a scenario uses 1",
            "devices": ", ".join(devices()),
            "data cache": _folder(cache_folder()),
            "kernels": _folder(Path(kernels)) if kernels else "beside the code, by numba",
            "unrolled kernels": _folder(kernel_folder()),
        },
    }


def doctor(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Say what is installed, cached and available here."""
    if as_json:
        say_json(facts())
        return
    console = screen()
    for title, rows in facts().items():
        _show(console, title, rows)


def _folder(path: Path) -> str:
    existing = next(p for p in (path, *path.parents) if p.exists())
    if not os.access(existing, os.W_OK):
        return f"{path} (cannot be written)"
    return str(path) if path.exists() else f"{path} (made when needed)"


def _show(console: Console, title: str, rows: dict[str, str]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold", box=None)
    table.show_header = False
    table.add_column(no_wrap=True, style="cyan", min_width=14)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(Text(name), Text(value))
    console.print(table)
    console.print()
