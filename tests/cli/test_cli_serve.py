import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cli.conftest import Wola
from tests.report.browser.store import fill, scenarios
from wola.bench.store import Store

# A shell that runs things in the background may have switched Ctrl-C off for its children.
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from wola.cli import main
main()
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return fill(Store.open(tmp_path / "store"), scenarios()[:2])


@pytest.fixture
def serving(store: Store) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-c", PROGRAM, "serve", str(store.path), "--port", "0"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ}
    ) as process:
        yield process
        process.kill()


def test_the_page_is_served_until_ctrl_c(serving: subprocess.Popen[str]) -> None:
    assert serving.stdout
    url = serving.stdout.readline().split()[0]
    assert url.startswith("http://localhost:")
    with urlopen(url, timeout=20) as answer:
        assert b"<!doctype html>" in answer.read()
    with urlopen(f"{url}rows", timeout=20) as answer:
        assert answer.status == 200
    serving.send_signal(signal.SIGINT)
    assert serving.wait(timeout=20) == 0
    assert serving.stdout.read() == "ended\n"


def test_a_port_in_use_is_said_to_be_so(wola: Wola, store: Store) -> None:
    with socket.create_server(("localhost", 0)) as other:
        port = other.getsockname()[1]
        ended = wola("serve", store.path, "--port", port)
    assert ended.exit_code == 1
    assert f"--port = {port}; another program has it; allowed: another port" in ended.output


def test_a_host_that_is_not_this_machine_is_refused(wola: Wola, store: Store) -> None:
    ended = wola("serve", store.path, "--port", 0, "--host", "192.0.2.1")
    assert ended.exit_code == 1
    assert "--host = '192.0.2.1'" in ended.output


def test_a_folder_that_is_no_store_is_refused(wola: Wola, tmp_path: Path) -> None:
    ended = wola("serve", tmp_path / "nothing")
    assert ended.exit_code == 2
    assert "is no store" in ended.output


def test_without_a_name_it_is_the_usual_store(wola: Wola) -> None:
    ended = wola("serve")
    assert ended.exit_code == 2
    assert "store is no store" in ended.output
