import os
import pickle
import subprocess
import sys

import pytest

from wola.bench.executors.node import Submission
from wola.bench.marker import StoreError
from wola.bench.store import Store

ARRIVES = """
import pickle, sys
before = list(sys.path)
pickle.load(sys.stdin.buffer).arrive()
import a_users_module
print(a_users_module.NAME, sys.path[: len(before)] == before, len(sys.path) == len(set(sys.path)))
"""


def test_a_module_beside_the_driver_is_found_on_a_node(store, tmp_path, monkeypatch):
    (tmp_path / "a_users_module.py").write_text("NAME = 'mine'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    found = subprocess.run(
        [sys.executable, "-c", ARRIVES],
        input=pickle.dumps(Submission.of(store)),
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        capture_output=True,
        check=True,
    )

    assert found.stdout.decode().split() == ["mine", "True", "True"]


def test_a_store_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    submission = Submission.of(Store.open("store", stale_after=7.0))
    monkeypatch.chdir("/")

    reached = submission.arrive()

    assert reached.path == tmp_path / "store"
    assert reached.stale_after == 7.0


def test_a_node_that_does_not_share_the_store_says_so_and_writes_nothing(tmp_path):
    submission = Submission.of(Store(tmp_path / "store"))

    with pytest.raises(StoreError, match=r"store is no store on the node .*; allowed: a folder"):
        submission.arrive()
    assert list(tmp_path.iterdir()) == []
