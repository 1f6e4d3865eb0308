import io

import numpy as np
import pytest
import torch
from rich.console import Console

from wola.data import Arrays, load, make_dataset, partition_figure, partition_table, sample_figure

COUNTS = torch.tensor([[5, 0, 1], [2, 3, 0], [0, 0, 9]])


def text(table):
    console = Console(width=100, file=io.StringIO(), color_system=None)
    console.print(table)
    return console.file.getvalue()


def drawn(figure):
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())


def test_a_table_shows_counts_totals_and_who_is_byzantine():
    lines = text(partition_table(COUNTS, honest=2, classes=("cat", "dog", "owl"), title="T"))
    rows = [line.replace("│", " ").split() for line in lines.splitlines()]
    assert ["1", "5", "·", "1", "6"] in rows
    assert ["B1", "·", "·", "9", "9"] in rows
    assert ["honest", "7", "3", "1", "11"] in rows
    assert "owl" in lines


def test_a_table_of_many_classes_names_the_largest():
    counts = torch.ones(2, 100, dtype=torch.int64)
    counts[0, 42] = 7
    rows = [line.replace("│", " ").split() for line in text(partition_table(counts)).splitlines()]
    assert ["1", "100", "42", "7", "106"] in rows


def test_a_picture_maps_workers_across_and_classes_down():
    figure = partition_figure(COUNTS, honest=2, classes=("cat", "dog", "owl"), title="T")
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), COUNTS.T)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "2", "B1"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["cat", "dog", "owl"]
    assert axes.get_title() == "T"
    assert drawn(figure).std() > 0


def test_hundreds_of_workers_and_classes_are_drawn_with_fewer_ticks():
    figure = partition_figure(torch.ones(300, 100))
    assert len(figure.axes[0].get_xticklabels()) < 60
    drawn(figure)


def test_samples_of_every_class_are_shown_as_images():
    figure = sample_figure(load("digits"), per_class=3)
    assert len(figure.axes) == 30
    assert all(axes.images for axes in figure.axes)
    assert drawn(figure).std() > 0


def test_colour_images_and_classes_with_few_samples_are_drawn():
    x = np.random.default_rng(0).integers(0, 256, (3, 3, 4, 4)).astype(np.uint8)
    y = np.array([0, 0, 1])
    figure = sample_figure(make_dataset("c", Arrays(x, y, x, y), scale=255), per_class=2)
    assert [len(axes.images) for axes in figure.axes] == [1, 1, 1, 0]
    shown = figure.axes[2].images[0].get_array()
    np.testing.assert_allclose(shown, x[2].transpose(1, 2, 0) / 255, atol=1e-6)


def test_vectors_are_shown_as_rows_of_features():
    figure = sample_figure(load("iris"), per_class=4)
    assert figure.axes[0].images[0].get_array().shape == (12, 4)
    drawn(figure)


def test_impossible_arguments_are_named():
    with pytest.raises(ValueError, match=r"counts has shape \(3,\)"):
        partition_table(COUNTS[0])
    with pytest.raises(ValueError, match="honest = 4; allowed: 1 to 3"):
        partition_figure(COUNTS, honest=4)
    with pytest.raises(ValueError, match="per_class = 0"):
        sample_figure(load("iris"), per_class=0)
