"""The user's own data: an ``.npz`` of arrays, or a folder of images."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wola.data.arrays import Arrays, DataError, checked_arrays
from wola.data.files import DAMAGED

PARTS = ("x_train", "y_train", "x_test", "y_test")
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"})


def read_npz(source: Path) -> Arrays:
    """The arrays x_train, y_train, x_test, y_test of an ``.npz``, and ``classes`` if it has them.

    Inputs are (N, features), (N, H, W) or (N, C, H, W); uint8 means 0 to 255. Labels (N,) are
    whole numbers from 0, ``classes`` the names. Pickled objects are refused.
    """
    try:
        # NumPy leaves a file it opened itself open when the archive is damaged.
        with source.open("rb") as stream:
            stored = np.load(stream, allow_pickle=False)
            if not isinstance(stored, np.lib.npyio.NpzFile):
                raise ValueError("it is a single array")
            missing = [part for part in PARTS if part not in stored]
            if missing:
                raise DataError(
                    f"{source} lacks {', '.join(missing)} (it holds {', '.join(stored.files)}); "
                    f"expected the arrays {', '.join(PARTS)}"
                )
            arrays = [stored[part] for part in PARTS]
            classes = [str(name) for name in stored["classes"]] if "classes" in stored else []
    except DataError:
        raise
    except (ValueError, KeyError, zipfile.BadZipFile, *DAMAGED) as error:
        raise DataError(
            f"{source} cannot be read ({error}); expected an .npz with {', '.join(PARTS)}"
        ) from error
    return checked_arrays(*arrays, classes=classes, origin=str(source))


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
    return checked_arrays(*arrays, classes=classes, origin=str(source))


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
            return image.mode in ("1", "L")
    except (OSError, Image.DecompressionBombError) as error:
        raise DataError(f"{path} is not a readable image: {error}") from error


def _stacked(paths: list[Path], *, grey: bool) -> NDArray[np.uint8]:
    images: list[NDArray[np.uint8]] = []
    for path in paths:
        try:
            with Image.open(path) as image:
                pixels = np.asarray(image.convert("L" if grey else "RGB"))
        except (OSError, SyntaxError, ValueError) as error:
            raise DataError(f"{path} is truncated or damaged: {error}") from error
        images.append(pixels[None] if grey else pixels.transpose(2, 0, 1))
        if images[-1].shape != images[0].shape:
            raise DataError(
                f"{path} has {pixels.shape[1]} x {pixels.shape[0]} pixels, {paths[0]} "
                f"{images[0].shape[2]} x {images[0].shape[1]}; expected one size for all"
            )
    return np.stack(images)
