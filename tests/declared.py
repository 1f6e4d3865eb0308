"""What the package declares that it needs, and what comes with that."""

import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(*extras: str) -> list[Requirement]:
    """What is declared: the base, and these extras."""
    optional = PROJECT["optional-dependencies"]
    texts = [*PROJECT["dependencies"], *(text for extra in extras for text in optional[extra])]
    return [Requirement(text) for text in texts]


def distributions(found: list[Requirement]) -> set[str]:
    """The names of these distributions."""
    return {canonicalize_name(each.name) for each in found}


def closure(found: list[Requirement]) -> set[str]:
    """The names of these distributions and of all that they need here, as they are installed."""
    seen: set[tuple[str, str]] = set()
    waiting = [(each.name, extra) for each in found for extra in ("", *each.extras)]
    while waiting:
        name, extra = waiting.pop()
        if (canonicalize_name(name), extra) in seen:
            continue
        seen.add((canonicalize_name(name), extra))
        try:
            texts = requires(name) or []
        except PackageNotFoundError:
            continue
        for each in map(Requirement, texts):
            if each.marker is None or each.marker.evaluate({"extra": extra}):
                waiting += [(each.name, more) for more in ("", *each.extras)]
    return {name for name, _ in seen}


def modules_outside(names: set[str]) -> set[str]:
    """The names that can be imported here and come from none of these distributions."""
    return {
        module
        for module, owners in packages_distributions().items()
        if not {canonicalize_name(owner) for owner in owners} & names
    }
