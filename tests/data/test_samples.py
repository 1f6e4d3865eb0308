import numpy as np
import pytest
import torch
from PIL import Image

from wola.data import DataError
from wola.data.samples import pixels, plain_list, stacked_inputs

RNG = np.random.default_rng(0)
COLOURS = RNG.integers(0, 256, (3, 4, 5, 3)).astype(np.uint8)


def test_colour_images_keep_every_pixel_with_their_channels_first():
    made = stacked_inputs([Image.fromarray(c) for c in COLOURS], "a test")
    assert made.dtype == np.uint8
    assert made.shape == (3, 3, 4, 5)
    for n, c, row, column in np.ndindex(3, 3, 4, 5):
        assert made[n, c, row, column] == COLOURS[n, row, column, c]


def test_grey_images_have_one_channel_unless_one_of_them_is_coloured():
    grey = [Image.fromarray(c[..., 0]) for c in COLOURS]
    np.testing.assert_array_equal(stacked_inputs(grey, "a test")[:, 0], COLOURS[..., 0])
    mixed = stacked_inputs([grey[0], Image.fromarray(COLOURS[1])], "a test")
    assert mixed.shape == (2, 3, 4, 5)
    assert (mixed[0] == COLOURS[0, ..., 0]).all()


def test_black_and_white_is_0_and_255():
    assert set(pixels(Image.fromarray(COLOURS[0, ..., 0] > 99), grey=True).flatten()) == {0, 255}


def test_tensors_arrays_and_lists_are_stacked():
    for samples in ([torch.ones(2), torch.zeros(2)], [np.ones(2), np.zeros(2)], [[1, 1], [0, 0]]):
        assert stacked_inputs(samples, "a test").tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([], "a test holds no samples"),
        ([[1, 2], [3]], r"sample 1 has shape \(1,\), sample 0 \(2,\)"),
        ([Image.new("L", (2, 3)), Image.new("L", (3, 2))], r"sample 1 has shape \(1, 2, 3\)"),
        ([Image.new("L", (2, 3)), np.zeros((1, 3, 2))], "mixes images with other inputs"),
    ],
)
def test_samples_that_do_not_go_together_are_refused(samples, message):
    with pytest.raises(DataError, match=message):
        stacked_inputs(samples, "a test")


def test_numbers_come_out_of_tensors_and_words_stay():
    assert plain_list([torch.tensor(3), np.int64(4), 5, "six"]) == [3, 4, 5, "six"]
