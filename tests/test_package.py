"""The package as a whole: what `wola` itself offers, and what importing it costs."""

import ast
import importlib
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import wola


def test_the_front_door_is_small_and_every_name_behind_it_is_its_rooms_own():
    assert 50 <= len(wola.__all__) <= 70
    for room, names in wola._ROOMS.items():
        module = importlib.import_module(f"wola.{room}")
        for name in names:
            assert getattr(wola, name) is getattr(module, name)
            assert name in module.__all__
    assert sorted(wola._ROOM_OF) == sorted(wola.__all__)
    assert set(wola.__all__) <= set(dir(wola))


def test_type_checkers_see_the_same_door():
    tree = ast.parse(Path(wola.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        (node.module.removeprefix("wola."), alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == {(room, name) for name, room in wola._ROOM_OF.items()}


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'wola' has no attribute 'krum'"):
        wola.krum  # noqa: B018


def test_importing_wola_imports_no_heavy_library():
    heavy = ("torch", "numpy", "polars", "numba", "pydantic", "typer", "matplotlib", "sklearn")
    code = f"import sys, wola; print([name for name in {heavy} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_using_the_rules_imports_neither_scikit_learn_nor_matplotlib():
    code = (
        "import sys; from wola import NNM, simulate; "
        "print({'sklearn', 'matplotlib'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


SOURCE = Path(wola.__file__).parent

#: The order of the rooms: each imports from those before it alone.
ORDER = [
    "ground",
    "parts",
    "aggregation",
    "mixing",
    "labels",
    "attacks",
    "data",
    "models",
    "training",
    "bench",
    "report",
    "flower",
    "cli",
    "testing",
]

#: Pairs in which the first knows nothing of the second, though it comes later.
STRANGERS = {("flower", "bench"), ("flower", "report")}


def imported(code: str) -> Iterator[str]:
    """The full name of all that a module's code imports, wherever in it: `package.module.name`."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"a relative import of {node.module}"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def faults(room: str, code: str) -> list[str]:
    """What the code of a module of a room imports and must not."""
    found = []
    for name in imported(code):
        package, *inside = name.split(".")
        if package != "wola" or not inside or inside[0] == room:
            continue
        if any(part.startswith("_") and not part.startswith("__") for part in inside):
            found.append(f"{name} is private to another room")
        other = inside[0]
        if other in ORDER and room in ORDER and ORDER.index(other) > ORDER.index(room):
            found.append(f"{name} is of a later room")
        if (room, other) in STRANGERS:
            found.append(f"{name} is of a room that {room} knows nothing of")
    return found


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


def test_every_room_has_its_place_in_the_order():
    assert {path.relative_to(SOURCE).parts[0] for path in modules()} == set(ORDER)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_imports_from_earlier_rooms_alone_and_nothing_private(path):
    room = path.relative_to(SOURCE).parts[0]
    assert faults(room, path.read_text(encoding="utf-8")) == []


TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    "path", sorted(TESTS.rglob("*.py")), ids=lambda path: path.relative_to(TESTS).as_posix()
)
def test_a_test_imports_nothing_private_of_another_room_than_its_own(path):
    room = path.relative_to(TESTS).parts[0]
    found = faults(room, path.read_text(encoding="utf-8"))
    assert [fault for fault in found if "private" in fault] == []


@pytest.mark.parametrize(
    ("room", "code", "words"),
    [
        ("mixing", "from wola.aggregation._gram_kernels import gram", "private to another room"),
        ("mixing", "from wola.aggregation import _gram_kernels", "private to another room"),
        ("bench", "from wola.training.scenario import _fields", "private to another room"),
        ("labels", "def late():\n    import wola.attacks.mimic", "of a later room"),
        ("ground", "from wola.aggregation import Mean", "of a later room"),
        ("flower", "from wola.report import read_runs", "knows nothing of"),
    ],
)
def test_an_import_that_must_not_be_is_found(room, code, words):
    (fault,) = faults(room, code)
    assert words in fault


@pytest.mark.parametrize(
    ("room", "code"),
    [
        ("mixing", "from wola.mixing._matrix import rows"),
        ("mixing", "from wola.aggregation.rule import Rule"),
        ("labels", "from torch.utils._python_dispatch import TorchDispatchMode"),
        ("cli", "from wola import __version__"),
    ],
)
def test_an_import_that_may_be_is_not(room, code):
    assert faults(room, code) == []


def test_the_example_of_one_round_shows_what_wola_changes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["one_round.py", "--out", str(tmp_path)])
    runpy.run_path("examples/one_round.py", run_name="__main__")
    assert "gradient dissimilarity" in capsys.readouterr().out
    assert (tmp_path / "one_round.png").stat().st_size > 1000


def defined(path: Path) -> set[str]:
    """The classes, functions and types that a module defines for others."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return {name for name in found if not name.startswith("_") and not name.isupper()}


def test_a_public_name_stands_for_one_thing_in_the_whole_package():
    # Commands are named by what is typed: `runs show` and `data show`.
    modules = [
        path
        for path in sorted(SOURCE.rglob("*.py"))
        if not any(part.startswith("_") for part in path.relative_to(SOURCE).parts)
        and path.parent.name != "cli"
    ]
    places: dict[str, list[str]] = {}
    for path in modules:
        for name in defined(path):
            places.setdefault(name, []).append(str(path.relative_to(SOURCE)))
    assert len(places) > 400
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
