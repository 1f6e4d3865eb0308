"""The user's own data: an ``.npz`` of arrays, or a folder of images."""

import os
import zipfile
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wola.data.arrays import Arrays, DataError
from wola.data.dataset import Dataset, make_dataset
from wola.data.files import DAMAGED
from wola.data.own_arrays import own_arrays
from wola.data.samples import GREY, pixels
from wola.data.source import DataSource

TRAIN, TEST, CLIENTS = ("x_train", "y_train"), ("x_test", "y_test"), ("client", "client_train")
EXPECTED = "x_train, y_train, and x_test with y_test or neither"
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"})


@dataclass(frozen=True)
class OwnFile(DataSource):
    """Data of the user's own in one file or folder."""

    path: str | PathLike[str]

    own: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", os.fspath(self.path))

    @property
    def place(self) -> Path:
        """The path, with ``~`` for the home folder."""
        return Path(self.path).expanduser()

    def files(self) -> list[Path]:
        """The one path."""
        return [self.place]


@dataclass(frozen=True)
class Npz(OwnFile):
    """Your own arrays: an .npz with x_train, y_train and, if you have them, x_test, y_test.

    The file is read by :func:`read_npz`.

    >>> Npz("mine.npz").files()[0].name
    'mine.npz'
    """

    name: ClassVar[str] = "npz"

    def load(self) -> Dataset:
        """The dataset."""
        return make_dataset(self.name, read_npz(self.place), scale=_scale(self.place))


@dataclass(frozen=True)
class ImageFolder(OwnFile):
    """Your own images: a folder with train/CLASS/ and test/CLASS/.

    The folder is read by :func:`read_image_folder`.

    >>> ImageFolder("images").own
    True
    """

    name: ClassVar[str] = "folder"

    def load(self) -> Dataset:
        """The dataset."""
        return make_dataset(self.name, read_image_folder(self.place))


def read_npz(source: Path) -> Arrays:
    """The arrays x_train, y_train, x_test, y_test of an ``.npz``, and what else it has of these.

    Inputs are (N, features), (N, H, W) or (N, C, H, W); uint8 means 0 to 255. Labels (N,) are
    whole numbers or text, ``classes`` the names. Without x_test and y_test one sample in five is
    held out. ``client`` or ``client_train`` (N,) says whom each sample of x_train belongs to, and
    ``scale`` what divides the inputs, where it is not 255 for uint8 and 1 for others.
    Pickled objects are refused.
    """
    try:
        # NumPy leaves a file it opened itself open when the archive is damaged.
        with source.open("rb") as stream:
            stored = np.load(stream, allow_pickle=False)
            if not isinstance(stored, np.lib.npyio.NpzFile):
                raise ValueError("it is a single array")
            wanted = TRAIN + (TEST if any(part in stored for part in TEST) else ())
            missing = [part for part in wanted if part not in stored]
            if missing:
                raise DataError(
                    f"{source} lacks {', '.join(missing)} (it holds {', '.join(stored.files)}); "
                    f"expected the arrays {EXPECTED}"
                )
            arrays = [stored[part] for part in wanted]
            clients = [stored[part] for part in CLIENTS if part in stored]
            classes = [str(name) for name in stored["classes"]] if "classes" in stored else []
    except DataError:
        raise
    except (ValueError, KeyError, zipfile.BadZipFile, *DAMAGED) as error:
        raise DataError(
            f"{source} cannot be read ({error}); expected an .npz with {EXPECTED}"
        ) from error
    if len(clients) > 1:
        raise DataError(f"{source} holds both {' and '.join(CLIENTS)}; expected one of them")
    return own_arrays(
        *arrays,
        classes=classes or None,
        clients=clients[0] if clients else None,
        origin=str(source),
    )


def read_image_folder(source: Path) -> Arrays:
    """Images in ``train/CLASS/*`` and ``test/CLASS/*``, all of one size; classes in name order.

    Images of one grey channel give (1, H, W), all others three colours, (3, H, W).
    """
    folders = {part: source / part for part in ("train", "test")}
    for folder in folders.values():
        if not folder.is_dir():
            raise DataError(
                f"{folder} is not a folder; expected {source.name}/train/CLASS/ and "
                f"{source.name}/test/CLASS/ with images"
            )
    classes = sorted(path.name for path in folders["train"].iterdir() if path.is_dir())
    unknown = sorted(
        path.name
        for path in folders["test"].iterdir()
        if path.is_dir() and path.name not in classes
    )
    if unknown or not classes:
        raise DataError(
            f"{source}: train has the classes {', '.join(classes) or 'none'}, test also "
            f"{', '.join(unknown) or 'none'}; expected at least one, and none in test alone"
        )
    found = {part: _listed(folder, classes) for part, folder in folders.items()}
    grey = all(_is_grey(path) for listed in found.values() for path, _ in listed)
    arrays: list[NDArray[Any]] = []
    for part, listed in found.items():
        if not listed:
            raise DataError(f"{folders[part]} holds no image ({', '.join(sorted(PICTURES))})")
        arrays += [
            _stacked([path for path, _ in listed], grey=grey),
            np.array([label for _, label in listed], dtype=np.int64),
        ]
    return own_arrays(*arrays, classes=classes, origin=str(source))


def _scale(source: Path) -> float | None:
    with np.load(source, allow_pickle=False) as stored:
        return float(stored["scale"]) if "scale" in stored else None


def _listed(folder: Path, classes: list[str]) -> list[tuple[Path, int]]:
    return [
        (path, label)
        for label, name in enumerate(classes)
        if (folder / name).is_dir()
        for path in sorted((folder / name).iterdir())
        if path.suffix.lower() in PICTURES
    ]


def _is_grey(path: Path) -> bool:
    try:
        with Image.open(path) as image:
            return image.mode in GREY
    except (OSError, Image.DecompressionBombError) as error:
        raise DataError(f"{path} is not a readable image: {error}") from error


def _stacked(paths: list[Path], *, grey: bool) -> NDArray[np.uint8]:
    images: list[NDArray[np.uint8]] = []
    for path in paths:
        try:
            with Image.open(path) as image:
                images.append(pixels(image, grey=grey))
        except (OSError, SyntaxError, ValueError) as error:
            raise DataError(f"{path} is truncated or damaged: {error}") from error
        if images[-1].shape != images[0].shape:
            size, first = (
                f"{shape[2]} x {shape[1]}" for shape in (images[-1].shape, images[0].shape)
            )
            raise DataError(
                f"{path} has {size} pixels, {paths[0]} {first}; expected one size for all"
            )
    return np.stack(images)
