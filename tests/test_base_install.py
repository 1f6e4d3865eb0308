"""The base install works without any extra, and says which one is missing where it is needed."""

import json

import pytest

from tests.without_extras import hidden_modules, run_without_extras

EXTRAS = {"flwr", "cryptography", "httpx", "ray", "submitit", "tensorboard", "mlflow", "wandb"}

#: What works on the command line, in this order, and a word of what it says.
WORKING = [
    (["--version"], "wola 0."),
    (["list"], "trimmed-mean"),
    (["doctor"], "torch"),
    (["data", "list"], "digits"),
    (["train", "--dataset", "iris", "--steps", "3", "--out", "run"], "accuracy"),
    (["bench", "grid.toml", "--store", "store", "--processes", "1"], "1 run"),
    (["runs", "ls", "--store", "store"], "iris"),
    (["report", "store", "--out", "page"], "page"),
]

#: What needs an extra on the command line, and which.
REFUSED = [
    (["bench", "quick", "--ray", "auto"], "ray"),
    (["bench", "quick", "--slurm"], "slurm"),
    (["bench", "quick", "--tensorboard", "curves"], "tensorboard"),
    (["bench", "quick", "--mlflow", "sqlite:///m.db"], "mlflow"),
    (["bench", "quick", "--wandb", "mine"], "wandb"),
    (["flower", "keygen", "keys"], "flower"),
    (["flower", "demo"], "flower"),
]

#: What needs an extra in Python, and which.
RAISING = [
    ("import wola.flower", "flower"),
    ("from wola.flower import WolaStrategy", "flower"),
    ("import wola.flower.strategy", "flower"),
    ("import wola.flower.deployment", "flower"),
    ("from wola.bench.executors.ray import RayExecutor; RayExecutor('auto')", "ray"),
    ("from wola.bench.executors.slurm import SlurmExecutor; SlurmExecutor()", "slurm"),
    ("watched(wola.bench.TensorBoardCurves(Path('curves')))", "tensorboard"),
    ("watched(wola.bench.MLflowCurves('sqlite:///m.db', name='a', key='1'))", "mlflow"),
    ("watched(wola.bench.WandbCurves('mine', name='a', key='1'))", "wandb"),
]

GRID = """
[base]
dataset = "iris"
steps = 3

[axes]
attack = ["alie"]
"""

SCRIPT = f"""
import importlib, json, pkgutil, sys
from importlib.util import find_spec
from pathlib import Path

import wola
import wola.bench
from typer.testing import CliRunner
from wola import Scenario, simulate
from wola.cli import app

Path("grid.toml").write_text({GRID!r})


def watched(callback):
    simulate(Scenario.paper("iris", steps=1), callbacks=[callback])


def invoked(words):
    done = CliRunner().invoke(app, words)
    error = done.exception
    trouble = "" if error is None or isinstance(error, SystemExit) else repr(error)
    return done.exit_code, done.output, trouble


def raised(code):
    try:
        exec(code)
    except Exception as error:
        return type(error).__name__, str(error)
    return "nothing", ""


if __name__ == "__main__":
    rooms = [
        each.name
        for each in pkgutil.walk_packages(wola.__path__, "wola.")
        if not each.name.startswith("wola.flower") and each.name != "wola.__main__"
    ]
    for name in rooms:
        importlib.import_module(name)
    seen = [name for name in {sorted(EXTRAS)!r} if find_spec(name) is not None]
    lines = [invoked(words) for words in {[w for w, _ in WORKING + REFUSED]!r}]
    codes = [raised(code) for code in {[code for code, _ in RAISING]!r}]
    print("RESULT", json.dumps(dict(seen=seen, rooms=len(rooms), lines=lines, codes=codes)))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What a process that has the base alone finds, says and raises."""
    printed = run_without_extras(SCRIPT, tmp_path_factory.mktemp("base"))
    return json.loads(printed.rpartition("RESULT ")[2])


def test_the_extras_are_installed_here_and_hidden_there(seen):
    assert hidden_modules() >= EXTRAS
    assert seen["seen"] == []


def test_every_module_outside_the_room_for_flower_can_be_imported(seen):
    assert seen["rooms"] > 300


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [(number, *each) for number, each in enumerate(WORKING)],
    ids=[" ".join(words) for words, _ in WORKING],
)
def test_a_command_that_needs_no_extra_works(seen, number, words, said):
    code, output, trouble = seen["lines"][number]

    assert (code, trouble) == (0, ""), output
    assert said in output


@pytest.mark.parametrize(
    ("number", "extra"),
    [(number, extra) for number, (_, extra) in enumerate(REFUSED, len(WORKING))],
    ids=[" ".join(words) for words, _ in REFUSED],
)
def test_a_command_that_needs_an_extra_says_how_to_install_it(seen, number, extra):
    code, output, trouble = seen["lines"][number]

    assert (code, trouble) == (2, "")
    assert f"pip install 'wola[{extra}]'" in " ".join(output.split())


@pytest.mark.parametrize(
    ("number", "extra"),
    [(number, extra) for number, (_, extra) in enumerate(RAISING)],
    ids=[code for code, _ in RAISING],
)
def test_code_that_needs_an_extra_raises_an_error_that_says_how_to_install_it(seen, number, extra):
    kind, message = seen["codes"][number]

    assert kind == "MissingExtra"
    assert message.endswith(f"pip install 'wola[{extra}]'")
