import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from time import monotonic, sleep

import pytest

from wola.flower.deployment import DeploymentError, Programs, processes


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def eventually(ready: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = monotonic() + seconds
    while not ready():
        if monotonic() > end:
            return False
        sleep(0.02)
    return True


def family(programs: Programs, pids: Path, *, stubborn: bool = False) -> list[int]:
    """Starts a program that starts another one; the process ids of both."""
    trap = "trap '' TERM; " if stubborn else ""
    line = f"{trap}sh -c '{trap}echo $$ >> {pids}; sleep 60; sleep 60' & "
    programs.start("family", ["sh", "-c", f"{line}echo $$ >> {pids}; wait; sleep 60"])
    assert eventually(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    return [int(word) for word in pids.read_text().split()]


def test_children_of_a_program_end_with_it(tmp_path: Path) -> None:
    with Programs(tmp_path, os.environ) as programs:
        pids = family(programs, tmp_path / "pids")
        assert not any(map(gone, pids))
    assert all(map(gone, pids))


def test_a_program_that_will_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wola.flower.deployment.processes.GRACE", 0.3)
    with Programs(tmp_path, os.environ) as programs:
        pids = family(programs, tmp_path / "pids", stubborn=True)
    assert all(map(gone, pids))


def test_what_runs_is_stopped_when_a_later_program_cannot_start(tmp_path: Path) -> None:
    pids: list[int] = []

    def start() -> None:
        with Programs(tmp_path, os.environ) as programs:
            pids.extend(family(programs, tmp_path / "pids"))
            programs.start("absent", [str(tmp_path / "absent")])

    with pytest.raises(DeploymentError, match="absent cannot be started"):
        start()
    assert len(pids) == 2
    assert all(map(gone, pids))


def test_a_program_that_ends_too_early_is_quoted(tmp_path: Path) -> None:
    with Programs(tmp_path, os.environ) as programs:
        program = programs.start("short", ["sh", "-c", "echo no such port; exit 3"])
        with pytest.raises(DeploymentError, match=r"short ended with code 3:\nno such port"):
            programs.await_that(lambda: False, program, seconds=9, what="listening")


def test_a_program_that_takes_too_long_is_quoted(tmp_path: Path) -> None:
    with Programs(tmp_path, os.environ) as programs:
        program = programs.start("slow", ["sleep", "60"])
        with pytest.raises(DeploymentError, match=r"slow: listening took more than 0.1 s"):
            programs.await_that(lambda: False, program, seconds=0.1, what="listening")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_everything_is_stopped_by_a_signal(tmp_path: Path, number: int, code: int) -> None:
    script = f"""
        import importlib.util, os, signal, sys, time
        from pathlib import Path

        spec = importlib.util.spec_from_file_location("processes", {processes.__file__!r})
        sys.modules["processes"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["processes"])
        from processes import Programs

        signal.signal(signal.SIGINT, signal.default_int_handler)
        with Programs(Path({str(tmp_path)!r}), os.environ) as programs:
            pid = programs.start("sleeper", ["sleep", "60"]).process.pid
            print(pid, flush=True)
            while True:
                time.sleep(0.05)
    """
    command = [sys.executable, "-c", dedent(script)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.send_signal(number)
        assert process.wait(30) in (code, -number)
    assert gone(pid)


def test_handlers_of_signals_are_put_back(tmp_path: Path) -> None:
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with Programs(tmp_path, {}):
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_ctrl_c_at_the_start_of_a_program_leaves_it_to_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    popen = subprocess.Popen

    def interrupted(*words: object, **options: object) -> object:
        made = popen(*words, **options)  # type: ignore[call-overload]
        signal.raise_signal(signal.SIGINT)
        return made

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    programs = Programs(tmp_path, os.environ)
    try:
        with pytest.raises(KeyboardInterrupt), programs:
            programs.start("sleeper", ["sleep", "60"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert [program.name for program in programs.started] == ["sleeper"]
    assert not programs.started[0].family
