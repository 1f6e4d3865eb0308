"""A process that sees what `pip install wola` brings, whatever else is installed here."""

import os
import subprocess
import sys
from pathlib import Path

from tests.declared import ROOT, closure, modules_outside, requirements

#: Makes Python's own finder blind to some names, in a process and in all that it starts.
HIDE = """
import importlib.machinery, sys

HIDDEN = frozenset({hidden!r})


class Blind(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            return None
        return super().find_spec(name, path, target)


sys.meta_path[:] = [
    Blind if finder is importlib.machinery.PathFinder else finder for finder in sys.meta_path
]
"""


def hidden_modules() -> set[str]:
    """What a base install does not bring, and is installed here."""
    return modules_outside(closure(requirements()) | {"wola", "pip", "setuptools"})


def run_without_extras(script: str, folder: Path) -> str:
    """What a script prints that runs in a folder, where only the base is installed."""
    blind = folder / "blind"
    blind.mkdir()
    text = HIDE.format(hidden=sorted(hidden_modules()))
    (blind / "sitecustomize.py").write_text(text, encoding="utf-8")
    (folder / "script.py").write_text(script, encoding="utf-8")
    path = os.pathsep.join([str(blind), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "WOLA_DATA": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
