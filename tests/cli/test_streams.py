"""Readers that go away, and terminals without signs: tried on processes of their own."""

import os
import subprocess
import sys

import pytest

WOLA = [sys.executable, "-m", "wola"]


def unread(*words: str) -> tuple[int, bytes]:
    """The exit code and the errors of a command whose reader has gone away."""
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([*WOLA, *words], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    return ended.returncode, ended.stderr


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["--help"], ["--version"]])
def test_a_reader_that_goes_away_is_no_error(words: list[str]) -> None:
    assert unread(*words) == (0, b"")


LOOK = """
import sys
from wola.cli.streams import guard_output
guard_output()
print("50.0¹ ✓ ▼ größe")
print("τ", file=sys.stderr)
"""

AWAY = """
import os, sys
from wola.cli.streams import guard_output
reading, writing = os.pipe()
os.dup2(writing, 1)
os.close(writing)
os.close(reading)
guard_output()
for _ in range(3):
    print("nobody reads this", flush=True)
open(sys.argv[1], "w").write("the work goes on")
"""


def test_an_ascii_terminal_gets_ascii() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "LANG": "C"}
    made = subprocess.run([sys.executable, "-c", LOOK], env=env, capture_output=True, check=True)
    assert made.stdout.split() == [b"50.0^1", b"ok", b"(worst)", rb"gr\xf6\xdfe"]
    assert made.stderr.strip() == b"tau"


def test_others_get_the_signs() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    made = subprocess.run([sys.executable, "-c", LOOK], env=env, capture_output=True, check=True)
    assert made.stdout.decode().strip() == "50.0¹ ✓ ▼ größe"


def test_work_goes_on_when_nobody_reads(tmp_path) -> None:
    note = tmp_path / "note"
    subprocess.run([sys.executable, "-c", AWAY, str(note)], check=True)
    assert note.read_text() == "the work goes on"


def test_a_process_without_streams_is_left_alone() -> None:
    code = "import sys; sys.stdout = None; from wola.cli.streams import guard_output as g; g()"
    subprocess.run([sys.executable, "-c", code], check=True)
