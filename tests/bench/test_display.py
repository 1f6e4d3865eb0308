import io

import pytest
from rich.console import Console

from tests.bench.small import iris
from wola.bench.display import Display
from wola.bench.events import Begun, Done, Evaluated, Failed, Retried, Said, Taken

FIRST, SECOND = iris(strategy="WoLA"), iris(strategy="NNM", seed=2)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def shown(clock, *, terminal):
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=160, color_system=None)
    return Display(console, 4, title="flowers", clock=clock), text


def picture(display):
    console = Console(file=io.StringIO(), width=160, color_system=None)
    console.print(display.picture())
    return console.file.getvalue()


def test_a_pipe_gets_one_line_per_finished_run(clock):
    display, text = shown(clock, terminal=False)
    with display:
        display(Begun("a", FIRST))
        display(Evaluated("a", 3, 50.0))
        clock.now = 30.0
        display(Done("a", FIRST, 61.25, "finished", 1.5))

    assert text.getvalue() == (
        "1/4   61.2 %  1.5 s  iris alpha 0.3 f 6 WoLA trimmed-mean alie seed 1  0:01:30 left\n"
    )


def test_a_run_that_diverged_says_so(clock):
    display, text = shown(clock, terminal=False)
    with display:
        display(Done("a", FIRST, float("nan"), "diverged at step 2", 1.0))

    assert "1/4      -    1.0 s" in text.getvalue()
    assert "diverged at step 2" in text.getvalue()


def test_failures_retries_and_notes_are_told_everywhere(clock):
    for terminal in (False, True):
        display, text = shown(clock, terminal=terminal)
        with display:
            display(Said("a run was set aside"))
            display(Retried("a", FIRST, "log\nthe process died: signal SIGKILL"))
            display(Failed("a", FIRST, "Traceback\nValueError: [no] such thing"))

        assert "note: a run was set aside" in text.getvalue()
        assert "seed 1: the process died: signal SIGKILL" in text.getvalue()
        assert "ValueError: [no] such thing" in text.getvalue()


def test_the_picture_shows_progress_pace_and_the_time_left(clock):
    display, _ = shown(clock, terminal=True)
    display(Taken("z"))
    clock.now = 30.0
    display(Done("a", FIRST, 61.25, "finished", 1.5))

    seen = picture(display)
    assert "flowers" in seen
    assert "2/4  2.0 a minute  0:01:00 left" in seen


def test_the_picture_shows_runs_under_way_with_their_accuracy(clock):
    display, _ = shown(clock, terminal=True)
    display(Begun("a", FIRST))
    display(Begun("b", SECOND))
    display(Evaluated("b", 3, 87.5))

    lines = [" ".join(line.split()) for line in picture(display).splitlines()]
    assert "iris alpha 0.3 f 6 WoLA trimmed-mean alie seed 1 0/6 -" in lines
    assert "iris alpha 0.3 f 6 NNM trimmed-mean alie seed 2 3/6 87.5 %" in lines
    display(Done("b", SECOND, 80.0, "finished", 1.0))
    assert "seed 2" not in picture(display)


def test_the_picture_keeps_the_failures(clock):
    display, _ = shown(clock, terminal=True)
    display(Failed("a", FIRST, "ValueError: no"))

    assert "FAILED  iris alpha 0.3 f 6 WoLA trimmed-mean alie seed 1: ValueError: no" in picture(
        display
    )


def test_before_the_first_run_the_time_left_is_unknown(clock):
    display, _ = shown(clock, terminal=True)

    assert "0/4  0.0 a minute  ? left" in picture(display)
