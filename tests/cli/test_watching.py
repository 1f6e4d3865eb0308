"""What is shown while a run is under way."""

from io import StringIO

from rich.console import Console

from wola.cli.watching import Watching, time_left
from wola.training import Scenario, simulate


def watched(*, terminal: bool) -> str:
    screen = Console(
        file=StringIO(), force_terminal=terminal, width=120, color_system=None, _environ={}
    )
    with Watching(screen) as watching:
        simulate(Scenario.paper("iris", steps=20), callbacks=[watching])
    assert watching.started
    assert watching.steps == 20
    text: str = screen.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_a_pipe_gets_a_line_per_evaluation_and_notes_before():
    note, first, last = watched(terminal=False).splitlines()

    assert note.startswith("note: 17 of 17 workers hold fewer samples")
    assert first.startswith("step 10/20  accuracy ")
    assert " left" in first
    assert last.startswith("step 20/20")
    assert last.endswith("dissimilarity " + last.split()[-3] + "  0:00 left")


def test_a_terminal_gets_a_bar_with_accuracy_and_dissimilarity_and_no_lines():
    text = watched(terminal=True)

    assert "20/20" in text
    assert "accuracy" in text
    assert "dissimilarity" in text
    assert "step 10/20" not in text


def test_the_time_left_is_that_of_the_rest_at_the_same_pace():
    assert time_left(10.0, 5, 20) == "0:30 left"
    assert time_left(0.0, 0, 20) == "0:00 left"
