"""Files of every kind that is read back, how each is read, and random damage to them."""

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.made_up import put
from tests.bench.small import iris
from wola.bench.coincidence import representative
from wola.bench.exchange import ExchangeError, export_runs, import_runs
from wola.bench.iris import keep_iris
from wola.bench.marker import StoreError
from wola.bench.notes import checkpoint_file
from wola.bench.store import Store
from wola.bench.strategies import read_strategies
from wola.ground.sealed import Damaged, DamagedFile
from wola.ground.tables import read_sealed_table
from wola.training import Checkpoint, CheckpointError, RunFolder, Scenario, simulate

SCENARIO = iris(steps=2, evaluate_every=1)
FAILED = iris(seed=77)
COINCIDING = Scenario.paper("iris", strategy="BKT", byzantine=6)


@dataclass(frozen=True)
class Kind:
    """A kind of file: its place, how it is read to something that compares, and what names damage.

    Damage is named by an error, or by a warning that a test turns into one.
    """

    name: str
    file: Callable[[Path], Path]
    read: Callable[[Path], Any]
    named: tuple[type[BaseException], ...]


def prepared(folder: Path) -> None:
    """A store, a run folder and an export in a folder, with a file of every kind."""
    store = Store.open(folder / "store")
    key = store.key(SCENARIO)
    checkpoint = Checkpoint(checkpoint_file(store.path, key), every=1)
    result = simulate(SCENARIO, checkpoint=checkpoint)
    store.write(key, result)
    put(store, representative(COINCIDING))
    store.fail(FAILED.key(), FAILED, "ValueError: no")
    store.note_coincidences([(COINCIDING, representative(COINCIDING))])
    store.note_strategies({"Slow": {"lr": 0.01}})
    keep_iris(store)
    store.frame()
    RunFolder(folder / "run").keep(result)
    export_runs(store, list(store.keys()), folder / "runs.zip")


def damaged(whole: bytes, rng: random.Random) -> tuple[bytes, str]:
    """A flipped bit, a cut, or a range of zeros; and what was done, in words."""
    way = rng.choice(["flip", "flip", "flip", "cut", "zeros"])
    place = rng.randrange(len(whole))
    if way == "flip":
        bit = rng.randrange(8)
        changed = bytearray(whole)
        changed[place] ^= 1 << bit
        return bytes(changed), f"bit {bit} of byte {place} flipped"
    if way == "cut":
        return whole[:place], f"cut at byte {place}"
    length = rng.randrange(1, 512)
    changed = bytearray(whole)
    changed[place : place + length] = bytes(len(changed[place : place + length]))
    return bytes(changed), f"zeros from byte {place} on, {length} long"


def _store(folder: Path) -> Store:
    return Store(folder / "store")


def _run(folder: Path) -> Path:
    store = _store(folder)
    return store.folder(store.key(SCENARIO))


def _only(folder: Path, pattern: str) -> Path:
    (path,) = (folder / "store").glob(pattern)
    return path


def _state(folder: Path) -> str:
    """The bits of the run that goes on from the checkpoint."""
    store = _store(folder)
    checkpoint = Checkpoint(checkpoint_file(store.path, store.key(SCENARIO)), every=100)
    return simulate(SCENARIO, checkpoint=checkpoint, resume=True).digest()


def _imported(folder: Path) -> Any:
    store = Store.open(folder / "imported")
    for key in list(store.keys()):
        store.remove(key)
    taken = import_runs(folder / "runs.zip", store)
    if taken.damaged:
        raise ExchangeError(str(taken.damaged))
    numbers = [store.summary(key)["digest"] for key in list(store.keys())]
    return taken, numbers, read_strategies(store.path / "strategies")


def _index(folder: Path) -> list[dict[str, Any]]:
    """The rows of the index; a damaged one is made anew, so a copy of it is put back each time."""
    path = folder / "store" / "index.parquet"
    content = path.read_bytes()
    try:
        return _store(folder).frame().to_dicts()
    finally:
        path.write_bytes(content)


def _coincidences(folder: Path) -> list[dict[str, Any]]:
    return _store(folder).frame(coinciding=True).to_dicts()


def _model(folder: Path) -> dict[str, list[Any]]:
    state = RunFolder(folder / "run").model_state()
    return {name: tensor.tolist() for name, tensor in state.items()}


KINDS = (
    Kind(
        "store.json",
        lambda f: f / "store" / "store.json",
        lambda f: str(Store.open(f / "store").path),
        (StoreError,),
    ),
    Kind(
        "scenario.json of a store",
        lambda f: _run(f) / "scenario.json",
        lambda f: _store(f).record(_store(f).key(SCENARIO)),
        (Damaged,),
    ),
    Kind(
        "summary.json of a store",
        lambda f: _run(f) / "summary.json",
        lambda f: _store(f).summary(_store(f).key(SCENARIO)),
        (Damaged,),
    ),
    Kind(
        "metrics.parquet of a store",
        lambda f: _run(f) / "metrics.parquet",
        lambda f: _store(f).metrics(_store(f).key(SCENARIO)).to_dicts(),
        (Damaged,),
    ),
    Kind("index.parquet", lambda f: f / "store" / "index.parquet", _index, (DamagedFile,)),
    Kind(
        "record of a failure",
        lambda f: _only(f, "failed/*.json"),
        lambda f: _store(f).failure(FAILED.key()),
        (DamagedFile,),
    ),
    Kind("coincidences", lambda f: _only(f, "coincidences/*.json"), _coincidences, (DamagedFile,)),
    Kind(
        "strategies.json",
        lambda f: f / "store" / "strategies" / "strategies.json",
        lambda f: read_strategies(f / "store" / "strategies"),
        (DamagedFile,),
    ),
    Kind(
        "iris.parquet",
        lambda f: f / "store" / "figures" / "iris.parquet",
        lambda f: read_sealed_table(f / "store" / "figures" / "iris.parquet").to_dicts(),
        (Damaged,),
    ),
    Kind("checkpoint", lambda f: _only(f, "live/*.pt"), _state, (CheckpointError,)),
    Kind("export", lambda f: f / "runs.zip", _imported, (ExchangeError,)),
    Kind(
        "scenario.json of a run folder",
        lambda f: f / "run" / "scenario.json",
        lambda f: RunFolder(f / "run").record(),
        (Damaged,),
    ),
    Kind(
        "summary.json of a run folder",
        lambda f: f / "run" / "summary.json",
        lambda f: RunFolder(f / "run").summary(),
        (Damaged,),
    ),
    Kind(
        "metrics.parquet of a run folder",
        lambda f: f / "run" / "metrics.parquet",
        lambda f: RunFolder(f / "run").metrics().to_dicts(),
        (Damaged,),
    ),
    Kind(
        "model.safetensors of a run folder",
        lambda f: f / "run" / "model.safetensors",
        _model,
        (Damaged,),
    ),
)


def survived(folder: Path, kind: Kind, rng: random.Random) -> str | None:
    """Damages a file once, reads it and puts it back: None if that was named or harmless."""
    path = kind.file(folder)
    whole, expected = path.read_bytes(), kind.read(folder)
    content, what = damaged(whole, rng)
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = kind.read(folder)
    except kind.named:
        return None
    except BaseException as error:
        return f"{kind.name}: {what}: {error!r}"
    finally:
        path.write_bytes(whole)
    return None if found == expected else f"{kind.name}: {what} passed without a word"
