"""The package as a whole: what `wola` itself offers, and what importing it costs."""

import importlib
import runpy
import subprocess
import sys

import pytest

import wola

ROOMS = [
    "aggregation",
    "mixing",
    "labels",
    "attacks",
    "data",
    "models",
    "training",
    "bench",
    "report",
    "testing",
]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_of_a_room_can_be_imported_from_wola(room):
    module = importlib.import_module(f"wola.{room}")
    for name in module.__all__:
        assert getattr(wola, name) is getattr(module, name)
        assert name in wola.__all__


def test_importing_wola_imports_neither_scikit_learn_nor_matplotlib():
    code = "import sys, wola; print('sklearn' in sys.modules, 'matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]


def test_the_example_of_one_round_shows_what_wola_changes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["one_round.py", "--out", str(tmp_path)])
    runpy.run_path("examples/one_round.py", run_name="__main__")
    assert "gradient dissimilarity" in capsys.readouterr().out
    assert (tmp_path / "one_round.png").stat().st_size > 1000
