"""A run in a few lines."""

import pytest

from wola.cli.run_table import moved_labels, run_table
from wola.training import Scenario, simulate


def cells(summary, scenario, tests, after=0):
    counted = {**summary, "tests": tests, "tests_after_end": after}
    table = run_table(counted, scenario)
    names, values = ([str(cell) for cell in column.cells] for column in table.columns)
    return dict(zip(names, values, strict=True))


@pytest.fixture(scope="module")
def summary():
    return simulate(Scenario.paper("iris", steps=20, batch=8)).summary()


def test_the_accuracy_says_what_it_is_the_mean_of(summary):
    told = cells({**summary, "accuracy": 73.214, "final_accuracy": 80.0}, Scenario(), 15)

    assert told["accuracy"] == "73.21 %, mean of 15 tests over training; 80.00 % at the end"
    assert "mean of 1 test over" in cells(summary, Scenario(), 1)["accuracy"]
    assert (
        "3 tests over training and 2 more with the last good model"
        in (cells(summary, Scenario(), 3, after=2)["accuracy"])
    )


def test_a_run_that_diverged_early_has_dashes(summary):
    lost = {**summary, "accuracy": None, "cosine": None, "class_accuracies": [None] * 3}
    own = Scenario.paper("iris", loss="wola", mixing="arc")

    told = cells(lost, own, 0)

    assert "trimmed-mean with wola, prior objective, mixing arc" in told["scenario"]
    assert told["accuracy"].startswith("- %, mean of 0 tests")
    assert told["weakest class"] == "-"


def mix(shift, test_shift=0.0):
    return {
        "label_mix": {
            "train": [0.5, 0.5],
            "workers": [0.5 + shift, 0.5 - shift],
            "test": [0.5, 0.5],
            "tested": [0.5 - test_shift, 0.5 + test_shift],
            "train_shift": shift,
            "test_shift": test_shift,
        }
    }


def test_a_label_mix_is_told_where_it_has_moved(summary):
    assert moved_labels(mix(0.004, 0.004)) == ""
    assert "by 0.10 (total variation), the test set's by 0.00" in moved_labels(mix(0.1))
    assert "the test set's by 0.25" in moved_labels(mix(0.0, 0.25))
    assert "labels" not in cells({**summary, **mix(0.0)}, Scenario(), 1)
    assert "by 0.10" in cells({**summary, **mix(0.1)}, Scenario(), 1)["labels"]


def test_a_run_without_a_label_mix_is_told_without_it():
    assert moved_labels({}) == ""
