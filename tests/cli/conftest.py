"""A command line to try things on, in a folder of its own."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from wola.cli import app

Wola = Callable[..., Result]


@pytest.fixture
def wola(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wola:
    """Runs `wola` with some words, inside this process, with an empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("WOLA_DATA", str(tmp_path / "cache"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def call(*words: object) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words])

    return call
