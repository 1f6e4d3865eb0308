import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from errno import ENOSPC
from io import StringIO
from pathlib import Path
from threading import Barrier

import pytest

from wola.bench import claims as claims_module
from wola.bench.claims import Owner, alive, claim, claims
from wola.ground import WriteError

KEY = "ab" * 32


def old(path: Path, seconds: float) -> None:
    """Makes a claim look untouched for so long."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def elsewhere() -> Owner:
    """An owner on a machine that cannot be asked."""
    return replace(Owner.here(), machine="far away", host="far")


def ended() -> Owner:
    """An owner on this machine whose process is over."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    owner = replace(Owner.here(), pid=process.pid)
    process.wait()
    return owner


def test_a_run_is_claimed_by_one_and_free_after_it(tmp_path: Path) -> None:
    with claim(tmp_path, KEY, Owner.here()) as held:
        assert [c.owner for c in alive(tmp_path, KEY)] == [held.owner]
        assert claim(tmp_path, KEY, Owner.here()) is None
        assert claim(tmp_path, "cd" * 32, Owner.here()) is not None
    assert list(claims(tmp_path, KEY)) == []
    assert claim(tmp_path, KEY, Owner.here()) is not None


def test_a_claim_is_given_up_when_the_work_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), claim(tmp_path, KEY, Owner.here()):
        raise RuntimeError
    assert alive(tmp_path) == []


def test_the_claim_of_an_ended_process_is_taken_over_at_once(tmp_path: Path) -> None:
    dead = claim(tmp_path, KEY, ended())
    assert dead is not None
    assert alive(tmp_path, KEY) == []
    with claim(tmp_path, KEY, Owner.here()) as held:
        assert [c.path for c in alive(tmp_path)] == [held.path]
    assert list(claims(tmp_path)) == []


def test_a_process_of_the_same_number_that_started_later_is_another(tmp_path: Path) -> None:
    earlier = replace(Owner.here(), started="1")
    assert earlier.is_gone()
    assert not Owner.here().is_gone()


def test_another_users_process_counts_as_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert not Owner.here().is_gone()


def test_a_silent_owner_elsewhere_is_taken_over_only_when_stale(tmp_path: Path) -> None:
    held = claim(tmp_path, KEY, elsewhere())
    assert held is not None
    old(held.path, 50)
    assert claim(tmp_path, KEY, Owner.here(), stale_after=60) is None
    old(held.path, 70)
    assert claim(tmp_path, KEY, Owner.here(), stale_after=60) is not None


def test_the_heartbeat_keeps_a_claim_alive(tmp_path: Path) -> None:
    held = claim(tmp_path, KEY, elsewhere(), beat=0.02)
    assert held is not None
    with held:
        old(held.path, 1000)
        deadline = time.monotonic() + 10
        while not alive(tmp_path, KEY, stale_after=60) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert alive(tmp_path, KEY, stale_after=60)
        assert not held.lost


def test_an_owner_that_was_asleep_learns_that_it_lost_its_claim(tmp_path: Path) -> None:
    sleeper = claim(tmp_path, KEY, elsewhere())
    assert sleeper is not None
    old(sleeper.path, 1000)
    taker = claim(tmp_path, KEY, Owner.here())
    assert taker is not None
    sleeper.touch()
    assert sleeper.lost
    taker.touch()
    assert not taker.lost
    sleeper.release()
    assert [c.path for c in claims(tmp_path)] == [taker.path]


def test_of_many_takers_at_one_moment_one_wins(tmp_path: Path) -> None:
    for round_ in range(20):
        key = f"{round_:064x}"
        if round_ % 2:
            dead = claim(tmp_path, key, elsewhere())
            assert dead is not None
            old(dead.path, 1000)
        gate = Barrier(8)

        def take(_: int, gate: Barrier = gate, key: str = key) -> bool:
            gate.wait()
            return claim(tmp_path, key, Owner.here()) is not None

        with ThreadPoolExecutor(8) as pool:
            won = sum(pool.map(take, range(8)))
        # All may step back before each other, but never do two go on.
        assert won <= 1
        assert won == len(alive(tmp_path, key))


def test_a_taker_that_acts_on_an_old_look_steps_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = claim(tmp_path, KEY, elsewhere())
    assert dead is not None
    old(dead.path, 1000)
    create = claims_module._created
    others = []

    def late(path: Path, owner: Owner) -> bool:
        monkeypatch.setattr(claims_module, "_created", create)
        dead.path.unlink()
        others.append(claim(tmp_path, KEY, Owner.here()))
        return create(path, owner)

    monkeypatch.setattr(claims_module, "_created", late)
    assert claim(tmp_path, KEY, Owner.here()) is None
    assert [c.path for c in alive(tmp_path)] == [others[0].path]


def test_a_claim_that_is_just_being_written_counts(tmp_path: Path) -> None:
    (tmp_path / f"{KEY}.1.json").touch()
    assert claim(tmp_path, KEY, Owner.here()) is None
    old(tmp_path / f"{KEY}.1.json", 1000)
    assert claim(tmp_path, KEY, Owner.here()) is not None


def test_files_that_are_no_claims_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("hello")
    assert list(claims(tmp_path)) == []
    assert claim(tmp_path, KEY, Owner.here()) is not None


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "claims").write_text("a file")
    with pytest.raises(WriteError, match="claims"):
        claim(tmp_path / "claims", KEY, Owner.here())


@contextmanager
def full_disk(path: Path, mode: str, encoding: str) -> Iterator[StringIO]:
    """Opens a file on a disk that has no room for what was written to it."""
    with open(path, mode, encoding=encoding):
        yield StringIO()
        raise OSError(ENOSPC, "No space left on device")


def test_a_full_disk_leaves_no_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims_module, "open", full_disk, raising=False)
    with pytest.raises(WriteError, match="No space left"):
        claim(tmp_path, KEY, Owner.here())
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_that_nobody_has_reaped_is_gone(tmp_path):
    code = "from wola.bench.claims import Owner; print(repr(Owner.here()), flush=True); input()"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    owner = eval(child.stdout.readline(), {"Owner": Owner})
    assert not owner.is_gone()
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert owner.is_gone()
    child.communicate()
