import json

import numpy as np
import pytest
import torch

from wola.data import DataError, IndicesFile, load

LABELS = torch.arange(9) % 3
ROWS = [[0, 1, 1], [2, 3], [4]]


def divided(path, *, honest=2, byzantine=1):
    partition = IndicesFile(path)
    return partition.partition(
        LABELS, honest=honest, byzantine=byzantine, generator=torch.Generator()
    )


def written(folder, content):
    path = folder / "rows.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize("content", [ROWS, {"honest": ROWS[:2], "byzantine": ROWS[2:]}])
def test_json_gives_the_indices_of_each_worker(tmp_path, content):
    path = written(tmp_path, content)
    assert [shard.tolist() for shard in divided(path)] == ROWS
    assert IndicesFile(path).workers(load("iris")) == 3


def test_honest_workers_alone_may_be_named(tmp_path):
    path = written(tmp_path, {"honest": ROWS})
    assert [shard.tolist() for shard in divided(path, honest=3, byzantine=0)] == ROWS


def test_an_npz_gives_one_array_per_worker_in_the_order_of_saving(tmp_path):
    rows = [np.array([i % 9, 8]) for i in range(12)]
    np.savez(tmp_path / "rows.npz", *rows)
    shards = divided(tmp_path / "rows.npz", honest=9, byzantine=3)
    assert [shard.tolist() for shard in shards] == [row.tolist() for row in rows]
    assert IndicesFile(tmp_path / "rows.npz").workers(load("iris")) == 12


def test_it_is_a_value_that_names_its_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert IndicesFile("~/rows.json").files() == [tmp_path / "rows.json"]
    assert IndicesFile(tmp_path / "a.json") == IndicesFile(str(tmp_path / "a.json"))
    assert "~/rows.json" in IndicesFile("~/rows.json").describe()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[0], [1", "cannot be read .* expected a .json with a list of indices per worker"),
        ("3", "it is no list of lists"),
        ([1, 2, 3], "it is no list of lists"),
        ({"honest": 3}, "it is no list of lists"),
        ({"workers": [[0]]}, "it is no list of lists"),
        ([[0], [1]], r"honest \+ byzantine = 3; allowed: 2, the workers in .*rows.json"),
        ({"honest": [[0]], "byzantine": [[1]]}, "rows.json: honest = 2; allowed: 1"),
        ([[0], [9], [1]], "rows.json: worker 1 holds index 9 to 9; allowed: 0 to 8"),
        ([[0], [], [1]], r"rows.json: honest\[1\] is empty"),
        ([[0], [0.5], [1]], r"rows.json: honest\[1\] holds 0.5; allowed: whole numbers"),
    ],
)
def test_a_file_that_does_not_fit_is_named_with_what_is_expected(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        divided(written(tmp_path, content))


def test_files_that_are_missing_damaged_or_of_another_kind_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.json cannot be read"):
        divided(tmp_path / "nowhere.json")
    with pytest.raises(DataError, match=r"rows.txt ends in '.txt'; expected a .json"):
        divided(tmp_path / "rows.txt")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(DataError, match="it is no archive of arrays"):
        divided(tmp_path / "text.npz")
    np.savez(tmp_path / "square.npz", np.zeros((2, 2), dtype=int))
    with pytest.raises(DataError, match=r"an array has shape \(2, 2\), not \(N,\)"):
        divided(tmp_path / "square.npz")
    np.savez(tmp_path / "objects.npz", np.array([{}, 1], dtype=object))
    with pytest.raises(DataError, match=r"objects.npz cannot be read"):
        divided(tmp_path / "objects.npz")
