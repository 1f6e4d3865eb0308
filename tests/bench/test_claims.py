import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from errno import EMFILE, ENOSPC
from io import BytesIO
from pathlib import Path
from threading import Barrier

import pytest

from wola.bench import claims as claims_module
from wola.bench.claims import Claim, Owner, alive, claim, claims
from wola.ground.files import WriteError

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
    old(taker.path, 50)
    before = taker.path.stat().st_mtime
    sleeper.touch()
    assert sleeper.lost
    assert taker.path.stat().st_mtime == before
    taker.touch()
    assert not taker.lost
    sleeper.release()
    assert [held.owner for held in claims(tmp_path)] == [taker.owner]


def test_of_many_at_one_moment_exactly_one_gets_a_free_run(tmp_path: Path) -> None:
    for round_ in range(20):
        assert len(taken_by_eight(tmp_path, f"{round_:064x}")) == 1


def test_of_many_who_take_over_at_one_moment_exactly_one_goes_on(tmp_path: Path) -> None:
    for round_ in range(5):
        key = f"{round_:064x}"
        dead = claim(tmp_path, key, elsewhere())
        assert dead is not None
        old(dead.path, 1000)
        (winner,) = taken_by_eight(tmp_path, key)
        assert [held.owner for held in alive(tmp_path, key)] == [winner.owner]
    assert all(path.suffix == ".json" for path in tmp_path.iterdir())


def taken_by_eight(folder: Path, key: str) -> list[Claim]:
    """The claims of eight threads that ask for one run at the same moment."""
    gate = Barrier(8)

    def take(_: int) -> Claim | None:
        gate.wait()
        return claim(folder, key, Owner.here())

    with ThreadPoolExecutor(8) as pool:
        return [made for made in pool.map(take, range(8)) if made is not None]


def test_who_finds_another_claim_after_its_replacement_steps_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = claim(tmp_path, KEY, elsewhere())
    assert dead is not None
    old(dead.path, 1000)
    other = Owner.here()
    monkeypatch.setattr(claims_module, "sleep", lambda _: claims_module._replace(dead.path, other))
    assert claim(tmp_path, KEY, Owner.here()) is None
    assert [held.owner for held in alive(tmp_path)] == [other]


def test_a_claim_that_vanishes_harms_nobody(tmp_path: Path) -> None:
    held = claim(tmp_path, KEY, Owner.here())
    assert held is not None
    held.path.unlink()
    held.touch()
    assert held.lost
    held.release()
    assert list(claims(tmp_path / "nowhere")) == []
    assert alive(tmp_path / "nowhere", KEY) == []


def test_a_run_released_while_somebody_looks_is_not_taken_from_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = claim(tmp_path, KEY, Owner.here())
    assert held is not None
    create, others = claims_module._created, []

    def late(path: Path, owner: Owner) -> bool:
        monkeypatch.setattr(claims_module, "_created", create)
        made = create(path, owner)
        held.release()
        others.append(claim(tmp_path, KEY, Owner.here()))
        return made

    monkeypatch.setattr(claims_module, "_created", late)
    assert claim(tmp_path, KEY, Owner.here()) is None
    assert [c.owner for c in alive(tmp_path)] == [others[0].owner]


def test_a_claim_that_is_just_being_written_counts(tmp_path: Path) -> None:
    (tmp_path / f"{KEY}.json").touch()
    assert claim(tmp_path, KEY, Owner.here()) is None
    old(tmp_path / f"{KEY}.json", 1000)
    assert claim(tmp_path, KEY, Owner.here()) is not None


def test_files_that_are_no_claims_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("hello")
    assert list(claims(tmp_path)) == []
    assert claim(tmp_path, KEY, Owner.here()) is not None


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "claims").write_text("a file")
    with pytest.raises(WriteError, match="claims"):
        claim(tmp_path / "claims", KEY, Owner.here())


class FullDisk(BytesIO):
    """A file on a disk that has no room for what is written to it."""

    def close(self) -> None:
        super().close()
        raise OSError(ENOSPC, "No space left on device")


def opened_on_a_full_disk(path: Path, mode: str) -> FullDisk:
    """A new file there; an old one is in the way, as everywhere."""
    path.touch(exist_ok=False)
    return FullDisk()


def test_a_full_disk_leaves_no_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims_module, "open", opened_on_a_full_disk, raising=False)
    with pytest.raises(WriteError, match="No space left"):
        claim(tmp_path, KEY, Owner.here())
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_a_dead_claim_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = claim(tmp_path, KEY, ended())
    assert dead is not None

    monkeypatch.setattr(claims_module, "open", opened_on_a_full_disk, raising=False)
    with pytest.raises(WriteError, match="No space left"):
        claim(tmp_path, KEY, Owner.here())
    assert [held.owner for held in claims(tmp_path)] == [dead.owner]
    assert list(tmp_path.iterdir()) == [dead.path]


def test_a_process_without_free_file_handles_leaves_the_claims_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = claim(tmp_path, KEY, Owner.here())
    assert held is not None

    def exhausted(path: Path, mode: str) -> None:
        raise OSError(EMFILE, "Too many open files")

    monkeypatch.setattr(claims_module, "open", exhausted, raising=False)
    with pytest.raises(WriteError, match="Too many open files"):
        claim(tmp_path, KEY, Owner.here())
    assert list(tmp_path.iterdir()) == [held.path]


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
