import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.made_up import files, put, trained
from wola.bench.store import Store
from wola.ground import WriteError
from wola.training import Scenario


def test_a_full_disk_leaves_nothing_and_the_run_can_be_written_later(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = trained()
    key = store.key(result.scenario)
    store.fail(key, result.scenario, "first try")
    before = files(store.path)
    write = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name == "summary.json":
            write(path, content[:5])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(WriteError, match="No space left on device") as caught:
            store.write(key, result)
    assert caught.value.errno == errno.ENOSPC
    assert files(store.path) == before
    assert store.state(key) == "failed"
    store.write(key, result)
    assert store.state(key) == "done"


def test_a_disk_that_fills_at_the_rename_leaves_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(WriteError, match="No space left on device"):
        put(store, Scenario())
    assert list(store.keys()) == []
    assert list((store.path / "drafts").iterdir()) == []


SMALL_DISK = """
import sys
from pathlib import Path
from tests.bench.made_up import put
from wola.bench.store import Store
from wola.ground import WriteError
from wola.training import Scenario

store, written = Store.open(sys.argv[1]), []
try:
    for seed in range(100):
        written.append(put(store, Scenario(seed=seed)))
except WriteError as error:
    print(error)
assert written
assert list(store.keys()) == sorted(written)
assert all(store.damage(key) is None for key in written)
assert list((store.path / "drafts").iterdir()) == []
store.remove(written[0])
assert put(store, Scenario(seed=0)) == written[0]
"""


def test_a_real_disk_that_is_full_stops_cleanly(tmp_path: Path) -> None:
    # In a namespace of its own: nothing is mounted for anybody else.
    script = 'mount -t tmpfs -o size=64k tmpfs "$1" && exec "$2" -c "$3" "$1"/store'
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    try:
        subprocess.run([*alone, 'mount -t tmpfs tmpfs "$0"', tmp_path], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no small disk can be made here")
    command = [*alone, script, "sh", str(tmp_path), sys.executable, SMALL_DISK]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "cannot write (No space left on device)" in done.stdout


@pytest.mark.parametrize("content", [b"", b"PAR1 but not whole", None])
def test_corrupt_metrics_are_seen_and_set_aside(store: Store, content: bytes | None) -> None:
    key = put(store, Scenario())
    path = store.folder(key) / "metrics.parquet"
    path.unlink() if content is None else path.write_bytes(content)
    assert "metrics.parquet" in (store.damage(key) or "")
    aside = store.set_aside(key)
    assert aside.parent == store.path / "corrupt"
    assert (aside / "summary.json").is_file()
    assert store.state(key) == "missing"
    put(store, Scenario())
    assert store.damage(key) is None


def test_one_changed_bit_is_damage(store: Store) -> None:
    key = put(store, Scenario())
    path = store.folder(key) / "metrics.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert store.damage(key) == f"{path} is damaged: its content is not what was written"


def test_anothers_scenario_is_damage(store: Store) -> None:
    one, other = put(store, Scenario(seed=1)), put(store, Scenario(seed=2))
    (store.folder(one) / "scenario.json").write_bytes(
        (store.folder(other) / "scenario.json").read_bytes()
    )
    assert "is another run's" in (store.damage(one) or "")
    (store.folder(other) / "summary.json").write_text("{")
    assert store.damage(other) is not None
