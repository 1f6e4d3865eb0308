import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from tests.bench.small import iris
from wola.bench.events import Begun, Done, Evaluated, Failed, Retried, Said, Skipped
from wola.bench.progress import GridProgress, RunProgress, Speed
from wola.training import Evaluation, Scenario, simulate

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
    return GridProgress(console, 4, title="flowers", clock=clock), text


def picture(progress):
    console = Console(file=io.StringIO(), width=160, color_system=None)
    console.print(progress.picture())
    return console.file.getvalue()


def test_a_pipe_gets_one_line_per_finished_run(clock):
    progress, text = shown(clock, terminal=False)
    with progress:
        progress(Begun("a", FIRST))
        progress(Evaluated("a", 3, 50.0))
        clock.now = 30.0
        progress(Done("a", FIRST, 61.25, "finished", 1.5))
        clock.now = 60.0
        progress(Done("b", SECOND, 50.0, "finished", 2.5))

    assert text.getvalue() == (
        "1/4   61.2 %  1.5 s  iris alpha 0.3 f 6 WoLA trimmed-mean alie seed 1\n"
        "2/4   50.0 %  2.5 s  iris alpha 0.3 f 6 NNM trimmed-mean alie seed 2  0:01:00 left\n"
    )


def test_a_run_that_diverged_says_so(clock):
    progress, text = shown(clock, terminal=False)
    with progress:
        progress(Done("a", FIRST, float("nan"), "diverged at step 2", 1.0))

    assert "1/4      -    1.0 s" in text.getvalue()
    assert "diverged at step 2" in text.getvalue()


def test_failures_retries_and_notes_are_told_everywhere(clock):
    for terminal in (False, True):
        progress, text = shown(clock, terminal=terminal)
        with progress:
            progress(Said("a run was set aside"))
            progress(Retried("a", FIRST, "log\nthe process died: signal SIGKILL"))
            progress(Failed("a", FIRST, "Traceback\nValueError: [no] such thing"))

        assert "note: a run was set aside" in text.getvalue()
        assert "seed 1: the process died: signal SIGKILL" in text.getvalue()
        assert "ValueError: [no] such thing" in text.getvalue()


def test_the_picture_shows_progress_pace_and_the_time_left(clock):
    progress, _ = shown(clock, terminal=True)
    progress(Skipped("z"))
    clock.now = 30.0
    progress(Done("a", FIRST, 61.25, "finished", 1.5))
    progress(Done("b", SECOND, 61.25, "finished", 1.5))

    seen = picture(progress)
    assert "flowers" in seen
    assert "3/4  4.0 a minute  0:00:15 left" in seen


def test_the_picture_shows_runs_under_way_with_their_accuracy(clock):
    progress, _ = shown(clock, terminal=True)
    progress(Begun("a", FIRST))
    progress(Begun("b", SECOND))
    progress(Evaluated("b", 3, 87.5))

    lines = [" ".join(line.split()) for line in picture(progress).splitlines()]
    assert "iris alpha 0.3 f 6 WoLA trimmed-mean alie seed 1 0/6 -" in lines
    assert "iris alpha 0.3 f 6 NNM trimmed-mean alie seed 2 3/6 87.5 %" in lines
    progress(Done("b", SECOND, 80.0, "finished", 1.0))
    assert "seed 2" not in picture(progress)


def test_the_picture_keeps_the_failures(clock):
    progress, _ = shown(clock, terminal=True)
    progress(Failed("a", FIRST, "ValueError: no"))

    assert "FAILED  iris alpha 0.3 f 6 WoLA trimmed-mean alie seed 1: ValueError: no" in picture(
        progress
    )


def test_before_the_first_run_neither_pace_nor_time_left_is_shown(clock):
    progress, _ = shown(clock, terminal=True)

    assert picture(progress).rstrip().endswith("0/4")


@pytest.mark.parametrize(
    ("total", "there", "done", "seconds", "left"),
    [
        (100, 0, 1, 60.0, None),  # One unit may be like no other.
        (100, 0, 4, 9.0, None),  # Neither a twentieth of the work nor ten seconds.
        (100, 0, 4, 10.0, 240.0),
        (100, 0, 5, 1.0, 19.0),
        (100, 60, 2, 1.0, 19.0),  # A twentieth of what was not there before.
        (100, 60, 10, 20.0, 60.0),
        (4, 0, 4, 8.0, 0.0),
    ],
)
def test_the_time_left_is_that_of_the_rest_once_it_can_be_trusted(
    clock, total, there, done, seconds, left
):
    pace = Speed(total, there=there, done=done, clock=clock)
    clock.now = seconds

    assert pace.left() == left


def watched(*, terminal):
    """What is shown of a run of 20 steps."""
    console = Console(
        file=io.StringIO(), force_terminal=terminal, width=120, color_system=None, _environ={}
    )
    with RunProgress(console) as progress:
        assert not progress.started
        simulate(Scenario.paper("iris", steps=20), callbacks=[progress])
    assert progress.started
    assert progress.steps == 20
    return console.file.getvalue()


def test_of_one_run_a_pipe_gets_a_line_per_test_and_notes_before():
    note, first, last = watched(terminal=False).splitlines()

    assert note.startswith("note: 17 of 17 workers hold fewer samples")
    assert first.startswith("step 10/20  accuracy ")
    assert first.endswith(" left")
    assert last.startswith("step 20/20")
    assert last.endswith("dissimilarity " + last.split()[-3] + "  0:00:00 left")


def test_of_one_run_a_terminal_gets_a_bar_with_accuracy_and_dissimilarity_and_no_lines():
    text = watched(terminal=True)

    assert "20/20" in text
    assert "accuracy" in text
    assert "dissimilarity" in text
    assert "step 10/20" not in text


def test_a_run_that_goes_on_counts_only_its_own_steps_for_the_time_left(clock):
    console = Console(file=io.StringIO(), width=120)
    progress = RunProgress(console, clock=clock)
    progress.on_start(iris(steps=100), SimpleNamespace(notes=()), 60)
    clock.now = 20.0
    progress.on_step(SimpleNamespace(step=70, dissimilarity_momenta=0.5))
    progress.on_evaluation(Evaluation(70, 50.0, 1.0, 0.0))

    assert console.file.getvalue().splitlines() == [
        "going on after step 60",
        "step 70/100  accuracy  50.0 %  dissimilarity 0.5  0:01:00 left",
    ]


def test_before_the_data_is_there_a_run_has_no_number_of_steps(clock):
    assert "0/?" in picture(RunProgress(Console(file=io.StringIO()), clock=clock))
