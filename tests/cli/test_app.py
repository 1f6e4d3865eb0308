"""The `wola` command: what it offers, what it loads, and where it imports from."""

import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version

import pytest
import typer

from wola.cli.app import Wola

HEAVY = {"torch", "polars", "numba", "matplotlib", "sklearn", "pydantic", "numpy", "rich"}

# Runs the command and then tells what was imported.
LOOKED_AT = """
import json, sys
from wola.cli import main
try:
    main()
except SystemExit as end:
    told = {"code": end.code, "loaded": list(sys.modules)}
    print(json.dumps(told), file=sys.stderr)
"""


def looked_at(*words: str) -> tuple[str, dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "-c", LOOKED_AT, *words], capture_output=True, text=True, check=True
    )
    return done.stdout, json.loads(done.stderr)


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_the_first_words_are_answered_without_a_heavy_import(word):
    _, told = looked_at(word)

    assert told["code"] == 0
    assert not HEAVY & {name.partition(".")[0] for name in told["loaded"]}


def test_the_help_lists_every_command_with_its_line(wola):
    shown = wola("--help").stdout

    for name, entry in Wola.entries.items():
        assert f"  {name.ljust(6)}  {entry.help}\n" in shown


@pytest.mark.parametrize("name", Wola.entries)
def test_every_listed_command_is_there_and_helps_in_plain_text(wola, name):
    module, _, attribute = Wola.entries[name].path.partition(":")
    found = getattr(import_module(module), attribute)

    assert callable(found) or isinstance(found, typer.Typer)
    assert wola(name, "--help").exit_code == 0
    assert "\x1b" not in wola(name, "--help").stdout


def test_the_version_is_told(wola):
    result = wola("--version")

    assert result.exit_code == 0
    assert result.stdout == f"wola {version('wola')}\n"


def test_python_m_wola_is_the_command(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-m", "wola", "train", "--steps", "0"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.startswith("wola: steps = '0'")
