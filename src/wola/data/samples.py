"""Inputs that come one by one, as images, tensors or arrays, stacked into one array."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wola.data.arrays import DataError
from wola.data.own_arrays import as_array

GREY = ("1", "L")


def stacked_inputs(samples: Iterable[Any], origin: str) -> NDArray[Any]:
    """One array (N, ...) of samples of one shape: tensors, arrays, numbers or PIL images.

    Images become (N, 1, H, W) uint8 if all of them are grey, else (N, 3, H, W).

    >>> stacked_inputs([Image.new("L", (4, 3)), Image.new("RGB", (4, 3))], "a doctest").shape
    (2, 3, 3, 4)
    """
    collected = list(samples)
    pictures = [sample for sample in collected if isinstance(sample, Image.Image)]
    if pictures and len(pictures) < len(collected):
        raise DataError(f"{origin} mixes images with other inputs; expected one kind")
    if pictures:
        grey = all(picture.mode in GREY for picture in pictures)
        arrays = [pixels(picture, grey=grey) for picture in pictures]
    else:
        arrays = [as_array(sample) for sample in collected]
    if not arrays:
        raise DataError(f"{origin} holds no samples; expected at least one")
    for number, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise DataError(
                f"{origin}: sample {number} has shape {array.shape}, sample 0 {arrays[0].shape}; "
                "expected one shape for all"
            )
    return np.stack(arrays)


def pixels(image: Image.Image, *, grey: bool) -> NDArray[np.uint8]:
    """An image as bytes: (1, H, W) if ``grey``, else three colours (3, H, W).

    >>> pixels(Image.new("RGB", (4, 3)), grey=False).shape
    (3, 3, 4)
    """
    values = np.asarray(image.convert("L" if grey else "RGB"))
    return values[None] if grey else values.transpose(2, 0, 1)


def plain_list(values: Iterable[Any]) -> list[Any]:
    """Values as Python's own: numbers out of tensors and arrays without dimensions.

    >>> plain_list(np.array([1, 2]))
    [1, 2]
    """
    return [value.item() if hasattr(value, "item") else value for value in values]
