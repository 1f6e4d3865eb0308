"""What is written where."""

import json

from hypothesis import given
from hypothesis import strategies as st

from wola.cli.screen import PIPE_WIDTH, say, say_json, screen

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_pipe_gets_long_lines_whole_and_square_brackets_as_they_are(capsys):
    say(screen(), "[red] " + "word " * 60)

    shown = capsys.readouterr().out
    assert shown.startswith("[red] word")
    assert shown.count("\n") == 1
    assert screen().width == PIPE_WIDTH


def test_errors_have_a_console_of_their_own(capsys):
    say(screen(stderr=True), "no")

    assert capsys.readouterr() == ("", "no\n")


@given(PLAIN)
def test_json_can_always_be_read_back(value):
    import io
    from contextlib import redirect_stdout

    with redirect_stdout(io.StringIO()) as out:
        say_json(value)

    def refuse(word: str) -> None:
        raise AssertionError(word)

    json.loads(out.getvalue(), parse_constant=refuse)
