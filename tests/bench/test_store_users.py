import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.bench.made_up import put
from wola.bench.store import Store
from wola.ground import WriteError
from wola.training import Scenario


@pytest.fixture
def public_store() -> Iterator[Store]:
    """A store that every user may write to."""
    before = os.umask(0)
    with TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        store = Store.open(Path(folder) / "store")
        (store.path / "claims").mkdir()
        yield store
    os.umask(before)


def as_user(number: int, work: Callable[[], object]) -> tuple[int, socket.socket]:
    """Starts some work in a process of another user, if root asks; its number, its output.

    When it has written its output it waits until the other end is closed.
    """
    ours, theirs = socket.socketpair()
    process = os.fork()
    if process == 0:
        ours.close()
        try:
            if number:
                os.setuid(number)
            theirs.sendall(json.dumps(work()).encode() + b"\n")
            theirs.recv(1)
        finally:
            os._exit(0)
    theirs.close()
    return process, ours


def answer(process: int, pipe: socket.socket) -> Any:
    with pipe.makefile() as lines:
        return json.loads(lines.readline())


def test_two_users_on_one_store_share_the_runs_between_them(public_store: Store) -> None:
    def take() -> list[int]:
        return [n for n in range(60) if public_store.claim(f"{n:064x}") is not None]

    other = 65534 if os.geteuid() == 0 else 0
    users = [as_user(0, take), as_user(other, take)]
    taken = [answer(*user) for user in users]
    assert sorted(taken[0] + taken[1]) == list(range(60))
    assert len(public_store.running()) == 60
    for _, pipe in users:
        pipe.close()
    for process, _ in users:
        os.waitpid(process, 0)
    assert public_store.running() == {}


def test_a_user_who_may_only_read_is_told_so(public_store: Store) -> None:
    if os.geteuid() != 0:
        pytest.skip("another user can be played by root alone")
    key = put(public_store, Scenario())
    os.chmod(public_store.path / "claims", 0o755)

    def look() -> tuple[str, str]:
        try:
            public_store.claim("ab" * 32)
        except WriteError as error:
            return public_store.state(key), str(error)
        return public_store.state(key), "claimed"

    process, pipe = as_user(65534, look)
    state, said = answer(process, pipe)
    pipe.close()
    os.waitpid(process, 0)
    assert state == "done"
    assert "cannot write (Permission denied)" in said
