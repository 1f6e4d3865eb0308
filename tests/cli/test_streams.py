"""Readers that go away, and terminals without signs: tried on processes of their own."""

import os
import subprocess
import sys

WOLA = [sys.executable, "-m", "wola"]


def closed_after_a_line(*words: str) -> tuple[str, int, str]:
    """The first line, the exit code and the errors of a command whose reader then goes away."""
    with subprocess.Popen(
        [*WOLA, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        return line.strip(), process.wait(60), errors


def test_a_reader_that_goes_away_is_no_error() -> None:
    assert closed_after_a_line("list") == ("dataset", 0, "")
    assert closed_after_a_line("list", "--json") == ("{", 0, "")


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
