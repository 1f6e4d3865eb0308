"""The libraries that the source imports are the ones that the package declares."""

import ast
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.declared import PROJECT, ROOT, distributions, requirements

#: Extras for working on the package itself, not for using it.
TOOLS = {"dev", "docs", "package"}
USED = sorted(set(PROJECT["optional-dependencies"]) - TOOLS)

#: Declared and never imported, with what needs it.
UNSEEN = {
    "tensorboard": "torch.utils.tensorboard",
    "alembic": "MLflow's stores in databases",
    "sqlalchemy": "MLflow's stores in databases",
}


def imported(path: Path) -> Iterator[str]:
    """The top-level names that a file imports, or asks `needed` for."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", None) == "needed"
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value).partition(".")[0]


def libraries(folder: str) -> dict[str, set[str]]:
    """The distributions that the files below a folder import, each with the files."""
    owners, found = packages_distributions(), {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        for module in set(imported(path)) - sys.stdlib_module_names - {"wola"}:
            # What is not installed here owns its own name.
            for owner in owners.get(module, [module]):
                name = path.relative_to(ROOT).as_posix()
                found.setdefault(canonicalize_name(owner), set()).add(name)
    return found


def test_every_library_that_is_imported_is_declared():
    declared = distributions(requirements(*USED))

    undeclared = {name: files for name, files in libraries("src").items() if name not in declared}

    assert undeclared == {}


def test_every_library_that_is_declared_is_imported():
    unused = distributions(requirements(*USED)) - set(libraries("src"))

    assert unused == set(UNSEEN)


def test_only_the_room_for_flower_imports_what_the_extra_flower_brings():
    base, extra = distributions(requirements()), distributions(requirements("flower"))

    for name in extra - base:
        files = libraries("src")[name]
        assert {file for file in files if not file.startswith("src/wola/flower/")} == set()


@pytest.mark.parametrize(
    "requirement", requirements(*sorted(PROJECT["optional-dependencies"])), ids=str
)
def test_every_requirement_has_a_lower_bound(requirement):
    assert {each.operator for each in requirement.specifier} & {">=", "=="}
