"""What of a scenario is the user's own: data known by their content, modules by their source."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wola.data import Dataset, DataSource, Partition, content_digest, default_partition
from wola.data.arrays import DataError
from wola.parts import Prepared, Unimportable
from wola.training.registry import PARTS

if TYPE_CHECKING:
    from wola.training.scenario import Scenario


def dataset_of(text: str) -> Dataset:
    """The dataset that a settled text names, read once: two stay, and a changed file is read anew.

    >>> dataset_of("iris").origin
    'iris'
    """
    if isinstance(text, Unimportable):
        return _loaded(text.value, str(text))
    return _kept(text, tuple(_stamp(path) for path in _files("dataset", text)))


@lru_cache(maxsize=2)
def _kept(text: str, stamps: tuple[Any, ...]) -> Dataset:
    return _loaded(PARTS.make("dataset", text), text)


def _loaded(source: DataSource | Prepared | Dataset, text: str) -> Dataset:
    made = source.load() if isinstance(source, DataSource) else source
    made = made() if isinstance(made, Prepared) else made
    if not isinstance(made, Dataset):
        raise DataError(f"dataset = {text!r} made a {type(made).__name__}; allowed: a Dataset")
    return made if made.origin == text else replace(made, origin=text)


def usual_partition(dataset: str) -> str:
    """The partition of a dataset for which none is named."""
    if isinstance(dataset, Unimportable):
        named = isinstance(dataset.value, Dataset) and dataset.value.clients is not None
        return "clients" if named else "dirichlet(mode=disjoint)"
    source = _made("dataset", dataset)
    return (
        default_partition(source) if isinstance(source, DataSource) else "dirichlet(mode=disjoint)"
    )


def natural_workers(dataset: str, partition: str) -> int | None:
    """How many workers the data themselves name, if the partition asks them; else None."""
    part = _made("partition", partition)
    if type(part).workers is Partition.workers:
        return None
    found: int | None = part.workers(dataset_of(dataset))
    return found


def content_of(scenario: Scenario) -> dict[str, str]:
    """SHA-256 of the user's own data and sources that a scenario names, by what they are called."""
    found: dict[str, str] = {}
    for kind in PARTS.kinds:
        text = getattr(scenario, kind, "")
        if isinstance(text, Unimportable):
            found[str(text)] = _digest_of_object(text.value)
        elif "(" in text or ":" in text:
            found |= PARTS.content(kind, text)
            if paths := _files(kind, text):
                found[" ".join(map(str, paths))] = content_digest(paths)
    return dict(sorted(found.items()))


@lru_cache(maxsize=1024)
def _settled(kind: str, text: str) -> Any:
    return PARTS.make(kind, text)


def _made(kind: str, text: str) -> Any:
    return PARTS.make(kind, text) if isinstance(text, Unimportable) else _settled(kind, text)


def _files(kind: str, text: str) -> list[Path]:
    """The files of the user's own that a part reads."""
    parts = _made(kind, text) if kind not in ("model", "server") else ()
    parts = parts if isinstance(parts, tuple) else (parts,)
    return [path for part in parts for path in _files_of(part)]


def _files_of(part: Any) -> Iterator[Path]:
    named = getattr(part, "files", None)
    own = getattr(part, "own", True)
    yield from named() if callable(named) and own else ()


def _stamp(path: Path) -> tuple[str, int, int]:
    try:
        stat = path.stat()
    except OSError:
        return str(path), -1, -1
    return str(path), stat.st_size, stat.st_mtime_ns


def _digest_of_object(part: Any) -> str:
    if isinstance(part, Dataset):
        return part.digest()
    thing = part if inspect.isroutine(part) or isinstance(part, type) else type(part)
    try:
        source = inspect.getsource(thing)
    except (OSError, TypeError):
        source = repr(thing)
    return sha256(source.encode()).hexdigest()
